//go:build unix

package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// TestFixerKeepsHardLinks: all names of a file have the fixed text.
func TestFixerKeepsHardLinks(t *testing.T) {
	dir := tree(t, map[string]string{"a": "x and more"})
	other := filepath.Join(t.TempDir(), "other")
	if err := os.Link(filepath.Join(dir, "a"), other); err != nil {
		t.Skip(err)
	}
	r := fix(t, dir, "", true)
	b, err := os.ReadFile(other)
	if err != nil || string(b) != "y and more" || len(r.Fixed) != 1 {
		t.Errorf("%q, %v, %+v", b, err, r)
	}
}

// ofTeam is the folder in which a copy of the test program fixes the file of its group.
const ofTeam = "PROCFIT_TEST_TEAM"

// TestFixerKeepsTheGroup: who is no root leaves a file to the group that it belongs to.
func TestFixerKeepsTheGroup(t *testing.T) {
	if dir := os.Getenv(ofTeam); dir != "" {
		fix(t, dir, "", true)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("no /proc has the test program")
	}
	need.Root(t) // who alone can become somebody with several groups
	const user, own, team = 12345, 12346, 54321
	dir := tree(t, map[string]string{"a": "x"})
	file := filepath.Join(dir, "a")
	must.OK(t, os.Chmod(filepath.Dir(dir), 0o755))
	for path, group := range map[string]int{dir: own, file: team} {
		must.OK(t, os.Chown(path, user, group))
	}
	child := exec.Command("/proc/self/exe", "-test.run=^TestFixerKeepsTheGroup$")
	child.Env = append(os.Environ(), ofTeam+"="+dir)
	child.Dir = dir
	child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: own, Groups: []uint32{team}}}
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info := must.Get(os.Stat(file))(t)
	if s := info.Sys().(*syscall.Stat_t); s.Uid != user || s.Gid != team {
		t.Errorf("it belongs to %d:%d", s.Uid, s.Gid)
	}
}

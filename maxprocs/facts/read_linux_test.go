package facts

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/maxprocs/internal/must"
)

// skip skips, or fails where nothing may be skipped: the library's module
// cannot use the tool's package need.
func skip(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("PROCFIT_REQUIRE") == "1" {
		t.Fatalf("nothing may be skipped here: %s", reason)
	}
	t.Skip(reason)
}

// probe is this test binary, run for its answer.
func probe(env ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "GOMAXPROCS=") && !strings.HasPrefix(e, "GODEBUG=") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	// The race detector waits a second at exit unless told otherwise.
	cmd.Env = append(cmd.Env, "MAXPROCS_TEST_PROBE=1", "GORACE=atexit_sleep_ms=0")
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

func TestAgreesWithThisRuntime(t *testing.T) {
	for _, env := range [][]string{
		nil, {"GOMAXPROCS="}, {"GOMAXPROCS=abc"}, {"GOMAXPROCS=0"}, {"GOMAXPROCS=3"}, {"GOMAXPROCS=+3"}, {"GOMAXPROCS=03"},
		{"GOMAXPROCS=2.5"}, {"GOMAXPROCS=-1"}, {"GOMAXPROCS=500m"}, {"GOMAXPROCS=99"}, {"GOMAXPROCS=4294967299"}, {"GOMAXPROCS= 3"},
		{"GODEBUG=containermaxprocs=0"}, {"GODEBUG=containermaxprocs=1"},
	} {
		t.Run(fmt.Sprint(env), func(t *testing.T) {
			out, err := probe(env...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			agree(t, string(out))
		})
	}
}

// TestReadPID reads a process in real nested groups, on whichever version of
// cgroups this machine has the cpu controller.
func TestReadPID(t *testing.T) {
	parent := makeGroup(t, groupHere(t), fmt.Sprintf("procfit-test-%d", os.Getpid()), 50_000)
	leaf := makeGroup(t, parent, "leaf", 40_000)
	cmd := probe("GOMAXPROCS=+7")
	// The shell enters the group, then waits for a word before it becomes the
	// probe, so that it can be read while it stands still.
	cmd.Args = []string{"sh", "-c", `echo $$ > "$1/cgroup.procs" && echo in && read word && exec "$0"`, "/proc/" + fmt.Sprint(os.Getpid()) + "/exe", leaf}
	cmd.Path = "/bin/sh"
	stdin := must.Get(cmd.StdinPipe())(t)
	stdout := must.Get(cmd.StdoutPipe())(t)
	cmd.Stderr = cmd.Stdout
	must.OK(t, cmd.Start())
	defer cmd.Process.Kill()
	out := bufio.NewReader(stdout)
	if line, err := out.ReadString('\n'); err != nil || line != "in\n" {
		t.Fatalf("the process did not enter %s: %v, %q", leaf, err, line)
	}

	f := must.Get(ReadPID(cmd.Process.Pid))(t)
	if len(f.Limits) < 2 || f.Limits[0].CPUs != 0.4 || f.Limits[0].Dir != leaf || f.Limits[1].CPUs != 0.5 {
		t.Errorf("limits %+v, want 0.4 from %s and 0.5 from its parent", f.Limits, leaf)
	}
	if f.EffectiveCPUs() != 0.4 || f.Cgroup.Mode == ModeNone || f.Cgroup.Mode == ModeUnknown {
		t.Errorf("%v CPUs, mode %s", f.EffectiveCPUs(), f.CgroupMode())
	}
	if f.Env.Raw != "+7" {
		t.Errorf("env %+v", f.Env)
	}
	// The kernel wants a child's share of its parent within the parent's on
	// v1; without one, the parent alone limits.
	setLimit(t, leaf, -1)
	if f, err := ReadPID(cmd.Process.Pid); err != nil || f.Limits[0].State != NoLimit || f.EffectiveCPUs() != 0.5 {
		t.Errorf("leaf %+v, %v CPUs, %v; want no limit and 0.5", f.Limits[0], f.EffectiveCPUs(), err)
	}
	io.WriteString(stdin, "go\n")
	said, err := io.ReadAll(out)
	if waitErr := cmd.Wait(); err != nil || waitErr != nil {
		t.Fatalf("%v, %v: %s", err, waitErr, said)
	}
	agree(t, string(said))
}

func TestReadPIDOfNone(t *testing.T) {
	for _, pid := range []int{-1, 0, 1 << 30} {
		if _, err := ReadPID(pid); err == nil || !strings.Contains(err.Error(), "no process") {
			t.Errorf("%d: %v", pid, err)
		}
	}
}

// groupHere is the directory of a group that can hold groups of ours.
func groupHere(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		skip(t, "needs root, to make cgroups")
	}
	c := Read().Cgroup
	if c.State != Known {
		skip(t, "needs a cgroup hierarchy with the cpu controller: "+c.Error)
	}
	if c.Version == 1 {
		return c.Mount
	}
	b, err := os.ReadFile(filepath.Join(c.Mount, "cgroup.subtree_control"))
	if err != nil || !bytes.Contains(b, []byte("cpu")) {
		skip(t, "needs the cpu controller in "+c.Mount+"/cgroup.subtree_control")
	}
	return c.Mount
}

// makeGroup makes a group with a quota in microseconds of 100 ms, and removes
// it when the test ends and nothing runs in it any more.
func makeGroup(t *testing.T, parent, name string, quota int) string {
	t.Helper()
	dir := filepath.Join(parent, name)
	must.OK(t, os.Mkdir(dir, 0o755))
	t.Cleanup(func() {
		var err error
		for i := 0; i < 200; i++ { // a killed process leaves its group a moment later
			if err = os.Remove(dir); err == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%v", err)
	})
	if _, err := os.Stat(filepath.Join(dir, "cpu.cfs_quota_us")); err != nil && quota > 0 {
		// v2: what is in the parent's hands is handed on.
		os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+cpu"), 0o644)
	}
	setLimit(t, dir, quota)
	return dir
}

func setLimit(t *testing.T, dir string, quota int) {
	t.Helper()
	file, text := filepath.Join(dir, "cpu.cfs_quota_us"), fmt.Sprint(quota)
	if _, err := os.Stat(file); err != nil {
		file = filepath.Join(dir, "cpu.max")
		if quota < 0 {
			text = "max"
		}
		text += " 100000"
	}
	must.OK(t, os.WriteFile(file, []byte(text), 0o644))
}

package meter

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/procfit/procfit/maxprocs/live"
	"github.com/procfit/procfit/test/need"
)

const socketVariable = "PROCFIT_TEST_SOCKET"

// socketMain is a program with a control socket, which ends with its standard input.
func socketMain(file string) {
	if _, err := live.New(new(live.Meter)).Listen(file); err != nil {
		panic(err)
	}
	os.Stdout.WriteString("up")
	io.Copy(io.Discard, os.Stdin)
}

// TestOfAnotherUser: root finds the socket of another user's program, wherever the folder of the
// socket is now.
func TestOfAnotherUser(t *testing.T) {
	need.Root(t)
	const nobody = 65534
	dir, err := os.MkdirTemp("", "procfit-meter-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	folder := filepath.Join(dir, "a")
	if os.Chmod(dir, 0o755) != nil || os.Mkdir(folder, 0o700) != nil || os.Chown(folder, nobody, nobody) != nil {
		t.Fatal("no folder of another user")
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	program := exec.Command("/proc/self/fd/3")
	program.ExtraFiles = []*os.File{self}
	program.Env = append(os.Environ(), socketVariable+"="+filepath.Join(folder, "s"))
	program.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	in, _ := program.StdinPipe()
	out, _ := program.StdoutPipe()
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer program.Wait()
	defer in.Close()
	if _, err := io.ReadFull(out, make([]byte, 2)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(folder, filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	c, err := ofProcess(t.Context(), program.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := c.State(t.Context()); err != nil || s.PID != program.Process.Pid || c.PID() != s.PID {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestFilesNear: without the kernel's word for it, the sockets of this user are found in the
// folder, also behind an absolute link, and neither links nor sockets of others.
func TestFilesNear(t *testing.T) {
	dir := t.TempDir()
	elsewhere := filepath.Join(t.TempDir(), "s")
	for _, name := range []string{filepath.Join(dir, "own"), filepath.Join(dir, "others"), elsewhere} {
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	link := filepath.Join(t.TempDir(), "link")
	if os.Symlink(dir, link) != nil || os.Symlink(elsewhere, filepath.Join(dir, "link")) != nil || os.WriteFile(filepath.Join(dir, "file"), nil, 0o600) != nil {
		t.Fatal("the folder is not complete")
	}
	want := []string{"others", "own"}
	if os.Geteuid() == 0 {
		if err := os.Chown(filepath.Join(dir, "others"), 65534, 65534); err != nil {
			t.Fatal(err)
		}
		want = want[1:]
	}
	for near, want := range map[string][]string{link: want, filepath.Join(link, "own"): nil, "../../../../../../../..": nil} {
		var got []string
		for file := range (socket{near: near}).filesNear(t.Context(), "/proc/self") {
			got = append(got, filepath.Base(file.Name()))
			file.Close()
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", near, got, want)
		}
	}
	if !ofThisUser("/proc/self") {
		t.Error("this process is not of this user")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ofProcess(ctx, os.Getpid()); err == nil || !strings.Contains(err.Error(), "not all looked at") {
		t.Errorf("without time: %v", err)
	}
}

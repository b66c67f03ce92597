//go:build unix

package live

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// over is a client of a socket.
func over(file string) *http.Client {
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", file)
	}}}
}

func TestSocket(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "procfit.sock")
	dead, err := net.Listen("unix", file)
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	dead.Close() // its file stays, as after a crash
	a := New(new(Meter))
	control, err := a.Listen(file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(file)
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if r, err := over(file).Get("http://procfit/state"); err != nil || r.StatusCode != 200 {
		t.Errorf("%v, %v", r, err)
	}
	if _, err := New(new(Meter)).Listen(file); err == nil || !strings.Contains(err.Error(), "another process serves") {
		t.Errorf("a second one: %v", err)
	}
	if err := control.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestSocketRefused(t *testing.T) {
	open := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	file, long := filepath.Join(t.TempDir(), "file"), t.TempDir()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	long += "/" + strings.Repeat("f", longestPath-len("//s")-len(long))
	for path, want := range map[string]string{
		filepath.Join(open, "s"):                        "other users can write",
		filepath.Join(t.TempDir(), "none", "none", "s"): "no such file",
		file: "is not a socket",
		filepath.Join(t.TempDir(), strings.Repeat("long", 30)): "at most 103",
		filepath.Join(long, "s"):                               "101 bytes, too many for the folder of a socket; name a shorter one",
	} {
		if c, err := New(new(Meter)).Listen(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", path, c, err, want)
		}
	}
}

// A folder that does not exist is made for this user alone, also below one that everybody can
// write to, and used again.
func TestSocketFolder(t *testing.T) {
	open := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(open, "live", "s")
	for range [2]int{} {
		control, err := New(new(Meter)).Listen(file)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(filepath.Dir(file)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if r, err := over(file).Get("http://procfit/state"); err != nil || r.StatusCode != 200 {
			t.Errorf("%v, %v", r, err)
		}
		control.Close()
	}
}

// A body that comes slowly does not hold the endpoint.
func TestSlowBody(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s")
	a := New(new(Meter))
	a.patience = 50 * time.Millisecond
	control, err := a.Listen(file)
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	c, err := net.Dial("unix", file)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Write([]byte("POST /lease HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"))
	c.SetReadDeadline(time.Now().Add(3 * slowest)) // which is longer than what is waited for here
	answer := make([]byte, 1024)
	n, err := c.Read(answer)
	if err != nil || !strings.Contains(string(answer[:n]), "408") || !strings.Contains(string(answer[:n]), "within 50ms") {
		t.Errorf("%q, %v", answer[:n], err)
	}
}

// Another user, who may enter the folder and could open the socket, is not answered.
func TestAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	dir, err := os.MkdirTemp("", "live")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "s")
	control, err := New(new(Meter)).Listen(file)
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	for _, path := range []string{dir, file} {
		if err := os.Chmod(path, 0o777|os.ModeSticky); err != nil { // the mode alone no longer keeps anybody out
			t.Fatal(err)
		}
	}
	for uid, answered := range map[uint32]bool{0: true, 65534: false} {
		cmd := exec.Command("/bin/sh", "-c", `command -v python3 >/dev/null || exit 9; python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(b"GET /state HTTP/1.0\r\n\r\n")
try: sys.exit(0 if b"200 OK" in s.recv(4096) else 3)
except ConnectionError: sys.exit(3)' "$0"`, file)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		err := cmd.Run()
		switch code := cmd.ProcessState.ExitCode(); {
		case code == 9:
			t.Skip("python3 is not installed")
		case (code == 0) != answered:
			t.Errorf("user %d: exit code %d, %v; want an answer: %t", uid, code, err, answered)
		}
	}
}

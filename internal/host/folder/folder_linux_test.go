package folder

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/test/need"
)

func TestMain(m *testing.M) {
	os.Unsetenv("SUDO_UID")
	os.Exit(m.Run())
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func made(t *testing.T, dir string) *Dir {
	t.Helper()
	d, err := Make(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// Links that lie in the folder already are replaced, and what they lead to stays.
func TestLinks(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "victim")
	write(t, outside, "precious")
	dir := filepath.Join(t.TempDir(), "a", "b")
	d := made(t, dir)
	for _, name := range []string{"journal.jsonl", "report.html"} {
		if err := os.Symlink(outside, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.OpenFile("journal.jsonl"); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a journal that is a link opens: %v", err)
	}
	f, err := d.Create("journal.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("ours"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := d.Replace("report.html", Shared, []byte("page")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(dir, "logs")); err != nil {
		t.Fatal(err)
	}
	if err := d.Mkdir("logs", 0o700); err == nil {
		t.Error("logs is a link to elsewhere, and is taken for a folder of ours")
	}
	if f, err := d.Create("logs/victim"); err == nil {
		f.Close()
		t.Error("a file was made outside of the folder")
	}
	if got := read(t, outside); got != "precious" {
		t.Errorf("what the links lead to is now %q", got)
	}
	if got := read(t, filepath.Join(dir, "report.html")); got != "page" {
		t.Errorf("the report is %q", got)
	}
}

func TestModes(t *testing.T) {
	dir := t.TempDir()
	d := made(t, dir)
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	f, err := d.Create("journal.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := d.Replace("report.html", Shared, nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"journal.jsonl": 0o600, "report.html": 0o644} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}

// A pipe that nobody writes to would be waited for without end.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	d := made(t, dir)
	path := filepath.Join(dir, "journal.jsonl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.OpenFile("journal.jsonl"); err == nil || !strings.Contains(err.Error(), "a pipe") {
		t.Errorf("got %v, want that it is a pipe", err)
	}
	if _, err := OpenRegular(path); err == nil || !strings.Contains(err.Error(), "a pipe") {
		t.Errorf("got %v, want that it is a pipe", err)
	}
	if _, err := OpenRegular("/dev/zero"); err == nil {
		t.Error("a device opens as a regular file")
	}
}

// What killed runs left is removed, what another procfit writes just now is not.
func TestAbandoned(t *testing.T) {
	dir := t.TempDir()
	d := made(t, dir)
	stale, fresh, other := filepath.Join(dir, ".report.html.12"), filepath.Join(dir, ".report.html.13"), filepath.Join(dir, ".report.html.bak")
	for _, path := range []string{stale, fresh, other} {
		write(t, path, "half")
	}
	long := time.Now().Add(-time.Hour)
	for _, path := range []string{stale, other} {
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Replace("report.html", Shared, []byte("page")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("a killed run's half of a report stays: %v", err)
	}
	for _, path := range []string{fresh, other} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s is gone: %v", path, err)
		}
	}
}

func TestHolds(t *testing.T) {
	dir := t.TempDir()
	d := made(t, dir)
	f, err := d.Create("journal.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !d.Holds("journal.jsonl", f) {
		t.Error("the file just made is not held")
	}
	path := filepath.Join(dir, "journal.jsonl")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if d.Holds("journal.jsonl", f) {
		t.Error("a removed file is held")
	}
	write(t, path, "another")
	if d.Holds("journal.jsonl", f) {
		t.Error("another file of the name is taken for the one that was opened")
	}
}

// Under sudo everything belongs to the user who called.
func TestSudo(t *testing.T) {
	need.Root(t)
	t.Setenv("SUDO_UID", "12345")
	t.Setenv("SUDO_GID", "12346")
	top := t.TempDir()
	dir := filepath.Join(top, "results", "x")
	d := made(t, dir)
	f, err := d.Create("journal.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := d.Mkdir("logs", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := d.Replace("report.html", Shared, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"results", "results/x", "results/x/journal.jsonl", "results/x/logs", "results/x/report.html"} {
		info, err := os.Lstat(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		if s := info.Sys().(*syscall.Stat_t); s.Uid != 12345 || s.Gid != 12346 {
			t.Errorf("%s belongs to %d:%d", name, s.Uid, s.Gid)
		}
	}
	if info, _ := os.Lstat(top); info.Sys().(*syscall.Stat_t).Uid == 12345 {
		t.Error("a directory that was there before changed its owner")
	}
}

package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

func TestMain(m *testing.M) {
	os.Unsetenv("SUDO_UID")
	os.Exit(m.Run())
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.OK(t, os.WriteFile(path, []byte(text), 0o644))
}

func read(t *testing.T, path string) string {
	t.Helper()
	b := must.Get(os.ReadFile(path))(t)
	return string(b)
}

func made(t *testing.T, dir string) *Dir {
	t.Helper()
	d := must.Get(Make(dir))(t)
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
		must.OK(t, os.Symlink(outside, filepath.Join(dir, name)))
	}
	if _, err := d.OpenFile("journal.jsonl"); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a journal that is a link opens: %v", err)
	}
	f := must.Get(d.Create("journal.jsonl"))(t)
	must.Get(f.WriteString("ours"))(t)
	f.Close()
	must.OK(t, d.Replace("report.html", Shared, []byte("page")))
	must.OK(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, "logs")))
	if err := d.Mkdir("logs"); err == nil {
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
	f := must.Get(d.Create("journal.jsonl"))(t)
	f.Close()
	must.OK(t, d.Replace("report.html", Shared, nil))
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
	must.OK(t, syscall.Mkfifo(path, 0o600))
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

// If one of several files cannot be written, none is replaced.
func TestWriteNone(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "report.html"), "old")
	paths, err := Write(dir, File{"report.html", Shared, []byte("new")}, File{"none/result.json", Shared, []byte("new")})
	if text := read(t, filepath.Join(dir, "report.html")); err == nil || paths != nil || text != "old" {
		t.Errorf("%v, %v: %s", paths, err, text)
	}
	if left := must.Get(os.ReadDir(dir))(t); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// What killed runs left is removed, what another procfit writes just now is not.
func TestAbandoned(t *testing.T) {
	dir := t.TempDir()
	d := made(t, dir)
	stale, fresh := filepath.Join(dir, ".report.html.1700000000000000012"), filepath.Join(dir, ".report.html.1700000000000000013")
	other, dated := filepath.Join(dir, ".report.html.bak"), filepath.Join(dir, ".report.html.20240131")
	for _, path := range []string{stale, fresh, other, dated} {
		write(t, path, "half")
	}
	long := time.Now().Add(-time.Hour)
	for _, path := range []string{stale, other, dated} {
		must.OK(t, os.Chtimes(path, long, long))
	}
	must.OK(t, d.Replace("report.html", Shared, []byte("page")))
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("a killed run's half of a report stays: %v", err)
	}
	for _, path := range []string{fresh, other, dated} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s is gone: %v", path, err)
		}
	}
}

func TestHolds(t *testing.T) {
	dir := t.TempDir()
	d := made(t, dir)
	f := must.Get(d.Create("journal.jsonl"))(t)
	defer f.Close()
	if !d.Holds("journal.jsonl", f) {
		t.Error("the file just made is not held")
	}
	path := filepath.Join(dir, "journal.jsonl")
	must.OK(t, os.Remove(path))
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
	f := must.Get(d.Create("journal.jsonl"))(t)
	f.Close()
	must.OK(t, d.Mkdir("logs"))
	must.OK(t, d.Replace("report.html", Shared, nil))
	for _, name := range []string{"results", "results/x", "results/x/journal.jsonl", "results/x/logs", "results/x/report.html"} {
		info := must.Get(os.Lstat(filepath.Join(top, name)))(t)
		if s := info.Sys().(*syscall.Stat_t); s.Uid != 12345 || s.Gid != 12346 {
			t.Errorf("%s belongs to %d:%d", name, s.Uid, s.Gid)
		}
	}
	if info, _ := os.Lstat(top); info.Sys().(*syscall.Stat_t).Uid == 12345 {
		t.Error("a directory that was there before changed its owner")
	}
}

// TestReplaceAs: a file is replaced, with its owner and mode, in the folder that was opened, whatever
// its path leads to by then.
func TestReplaceAs(t *testing.T) {
	need.Root(t)
	top := t.TempDir()
	ours, moved, others := filepath.Join(top, "ours"), filepath.Join(top, "moved"), filepath.Join(top, "others")
	for _, dir := range []string{ours, others} {
		must.OK(t, os.Mkdir(dir, 0o755))
		write(t, filepath.Join(dir, "a"), "old")
	}
	must.OK(t, os.Chmod(filepath.Join(ours, "a"), 0o640))
	must.OK(t, os.Chown(filepath.Join(ours, "a"), 12345, 54321))
	d := must.Get(Open(ours))(t)
	defer d.Close()
	text, was, err := d.Read("a", 9)
	if string(text) != "old" || err != nil {
		t.Fatalf("%q, %v", text, err)
	}
	must.OK(t, os.Rename(ours, moved))
	must.OK(t, os.Symlink(others, ours))
	must.OK(t, d.ReplaceAs("a", was, []byte("new")))
	for dir, want := range map[string]string{moved: "new 12345:54321 -rw-r-----", others: "old 0:0 -rw-r--r--"} {
		path := filepath.Join(dir, "a")
		info := must.Get(os.Lstat(path))(t)
		s := info.Sys().(*syscall.Stat_t)
		if got := fmt.Sprintf("%s %d:%d %v", read(t, path), s.Uid, s.Gid, info.Mode()); got != want {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
}

// endless is what has no end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// What is named is read to its bound, and what is waited for until the context ends.
func TestReadBounds(t *testing.T) {
	dir := t.TempDir()
	fifo, huge := filepath.Join(dir, "fifo"), filepath.Join(dir, "huge")
	must.OK(t, errors.Join(syscall.Mkfifo(fifo, 0o600), os.WriteFile(huge, nil, 0o600), os.Truncate(huge, 1<<40)))
	const most = 3 << 20
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	silent, _ := net.Pipe()
	for name, tt := range map[string]struct {
		read func() ([]byte, error)
		want string
	}{
		"a pipe for a file":   {func() ([]byte, error) { return ReadRegular(fifo, most) }, "not a regular file (a pipe)"},
		"a device":            {func() ([]byte, error) { return ReadFile(t.Context(), "/dev/zero", most) }, "not a regular file (a device"},
		"a directory":         {func() ([]byte, error) { return ReadFile(t.Context(), dir, most) }, "not a regular file (a directory)"},
		"a file of 1 TiB":     {func() ([]byte, error) { return ReadFile(t.Context(), huge, most) }, "huge: it has more than 3 MiB"},
		"what has no end":     {func() ([]byte, error) { return ReadAll(t.Context(), endless{}, most) }, "it has more than 3 MiB"},
		"a pipe without end":  {func() ([]byte, error) { return ReadFile(soon, fifo, most) }, context.DeadlineExceeded.Error()},
		"what does not speak": {func() ([]byte, error) { return ReadAll(soon, silent, most) }, context.DeadlineExceeded.Error()},
		"nothing":             {func() ([]byte, error) { return ReadFile(t.Context(), filepath.Join(dir, "no"), most) }, "no such file"},
		"a pipe for a folder": {func() ([]byte, error) { _, err := OpenRoot(fifo); return nil, err }, "not a directory (a pipe)"},
	} {
		if b, err := tt.read(); err == nil || !strings.Contains(err.Error(), tt.want) || b != nil {
			t.Errorf("%s: %d bytes, %v; want %q", name, len(b), err, tt.want)
		}
	}
}

func TestReadWhole(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{0, 1, 64 << 10, 64<<10 + 1, 3 << 20} {
		want := bytes.Repeat([]byte("abc"), size/3+1)[:size]
		path := filepath.Join(dir, "file")
		must.OK(t, os.WriteFile(path, want, 0o600))
		fifo := filepath.Join(t.TempDir(), "fifo")
		must.OK(t, syscall.Mkfifo(fifo, 0o600))
		go func() { _ = os.WriteFile(fifo, want, 0o600) }()
		file, err := ReadFile(t.Context(), path, int64(size))
		pipe, err2 := ReadFile(t.Context(), fifo, int64(size))
		all, err3 := ReadAll(t.Context(), bytes.NewReader(want), int64(size))
		if errors.Join(err, err2, err3) != nil || !bytes.Equal(file, want) || !bytes.Equal(pipe, want) || !bytes.Equal(all, want) {
			t.Errorf("%d bytes: %d of a file (%v), %d of a pipe (%v), %d of a reader (%v)", size, len(file), err, len(pipe), err2, len(all), err3)
		}
	}
}

package folder

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// TestTree: what may be read is decided by where a path leads, and not by where it begins.
func TestTree(t *testing.T) {
	top := t.TempDir()
	outside := filepath.Join(top, "secret")
	write(t, outside, "glpat-TOKEN")
	repository := filepath.Join(top, "repository")
	sub := filepath.Join(repository, "sub")
	for _, dir := range []string{filepath.Join(repository, ".git"), sub} {
		must.OK(t, os.MkdirAll(dir, 0o755))
	}
	write(t, filepath.Join(repository, "other"), "other")
	write(t, filepath.Join(sub, "plain"), "plain")
	write(t, filepath.Join(top, "above"), "above")
	links := map[string]string{"in": "../other", "out": outside, "up": "../../secret", "over": "loop", "loop": "over", "dir": top, "null": "/dev/null", "proc": "/proc/self/status"}
	for name, to := range links {
		must.OK(t, os.Symlink(to, filepath.Join(sub, name)))
	}
	must.OK(t, syscall.Mkfifo(filepath.Join(sub, "fifo"), 0o600))
	tree := NewTree(sub+"/...", filepath.Join(top, "missing"))
	for name, want := range map[string]string{"plain": "plain", "in": "other"} {
		if b, err := tree.Read(filepath.Join(sub, name), 9); string(b) != want || err != nil {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for name, want := range map[string]string{
		"out": ErrOutside.Error(), "up": ErrOutside.Error(), "dir/secret": ErrOutside.Error(), "null": ErrOutside.Error(), "proc": ErrOutside.Error(),
		"../../above": ErrOutside.Error(), "over": "too many levels", "fifo": "a pipe", "missing": "no such file",
	} {
		if b, err := tree.Read(filepath.Join(sub, name), 99); b != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want %q", name, b, err, want)
		}
	}
	if b, err := tree.ReadAbove(filepath.Join(top, "above"), 9); string(b) != "above" || err != nil {
		t.Errorf("a file above: %q, %v", b, err)
	}
	must.OK(t, os.Symlink(outside, filepath.Join(top, "link")))
	if b, err := tree.ReadAbove(filepath.Join(top, "link"), 99); b != nil || !errors.Is(err, ErrOutside) {
		t.Errorf("a link above: %q, %v", b, err)
	}
}

// TestTreeOfLink: a file that is named by a link may name others next to the link and next to itself.
func TestTreeOfLink(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"stack", "shared"} {
		must.OK(t, os.Mkdir(filepath.Join(top, dir), 0o755))
		write(t, filepath.Join(top, dir, "vars.env"), dir)
	}
	write(t, filepath.Join(top, "shared", "compose.yaml"), "")
	write(t, filepath.Join(top, "secret"), "glpat-TOKEN")
	link := filepath.Join(top, "stack", "compose.yaml")
	must.OK(t, os.Symlink("../shared/compose.yaml", link))
	tree := NewTree(link)
	for _, dir := range []string{"stack", "shared"} {
		if b, err := tree.Read(filepath.Join(top, dir, "vars.env"), 9); string(b) != dir || err != nil {
			t.Errorf("%s: %q, %v", dir, b, err)
		}
	}
	if b, err := tree.Read(filepath.Join(top, "secret"), 99); b != nil || !errors.Is(err, ErrOutside) {
		t.Errorf("a file above both: %q, %v", b, err)
	}
}

// TestOpenFound: a file that shows the kernel's state is none of a repository, even where the
// whole machine is the tree.
func TestOpenFound(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plain"), "plain")
	must.OK(t, os.Symlink("plain", filepath.Join(dir, "link")))
	for path, want := range map[string]string{"/proc/self/status": "not a file of a disk", "/sys/kernel/mm/transparent_hugepage/enabled": "", filepath.Join(dir, "link"): "too many levels", dir: "a directory"} {
		f, err := OpenFound(path)
		if err == nil {
			f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	f := must.Get(OpenFound(filepath.Join(dir, "plain")))(t)
	f.Close()
	if b, err := NewTree("/").Read("/proc/self/status", 1<<20); b != nil || err == nil {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

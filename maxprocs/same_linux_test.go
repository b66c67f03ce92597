package maxprocs_test

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/procfit/procfit/maxprocs"
	"github.com/procfit/procfit/maxprocs/facts"
)

// same holds what Set finds in a tree against the facts of it: there is one
// answer, found in two ways. Set spells a path as the kernel gave it, which may
// hold "//" only in odd texts.
func same(t *testing.T, root string) {
	t.Helper()
	f, err := facts.ReadFS(os.DirFS(root), 0)
	if err != nil {
		t.Fatal(err)
	}
	tightest, leaf, file, unknown := maxprocs.FindLimits(root)
	want, _ := f.Tightest()
	if tightest != want.CPUs || tightest != 0 && path.Clean(file) != want.File {
		t.Errorf("found %v in %q; facts have %v in %q", tightest, file, want.CPUs, want.File)
	}
	wantLeaf := 0.0
	if own, ok := f.Own(); ok && own.State == facts.Known {
		wantLeaf = own.CPUs
	}
	if leaf != wantLeaf {
		t.Errorf("its own group's limit is %v, facts have %v", leaf, wantLeaf)
	}
	f.Affinity.State = facts.Known // only limits are compared
	if (unknown != "") != (len(f.Unknown()) > 0) {
		t.Errorf("unknown: %q; facts: %q", unknown, f.Unknown())
	}
}

func TestSameInEveryWorld(t *testing.T) {
	worlds, err := filepath.Glob("facts/testdata/worlds/*/proc")
	if err != nil || len(worlds) < 60 {
		t.Fatalf("%d worlds, %v", len(worlds), err)
	}
	for _, w := range worlds {
		root := filepath.Dir(w)
		t.Run(filepath.Base(root), func(t *testing.T) { same(t, root) })
	}
}

func TestSameHere(t *testing.T) { same(t, "/") }

// What is not a file, or has no end, is unknown to both.
func TestSameOfOddFiles(t *testing.T) {
	for _, file := range []string{"proc/self/cgroup", "proc/self/mountinfo", "cg/app/cpu.max"} {
		for what, odd := range map[string]func(name string) error{
			"is a named pipe": func(name string) error { return syscall.Mkfifo(name, 0o644) },
			"is a device":     func(name string) error { return os.Symlink("/dev/zero", name) },
			"larger than":     func(name string) error { return errors.Join(os.WriteFile(name, nil, 0o644), os.Truncate(name, 1<<40)) },
		} {
			root := t.TempDir()
			for name, text := range map[string]string{
				"proc/self/cgroup": "0::/app\n", "proc/self/mountinfo": "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n",
				"cg/app/cgroup.procs": "", "cg/app/cpu.max": "200000 100000\n",
			} {
				name := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			name := filepath.Join(root, file)
			if err := errors.Join(os.Remove(name), odd(name)); err != nil {
				t.Fatal(err)
			}
			same(t, root)
			if _, _, _, unknown := maxprocs.FindLimits(root); !strings.Contains(unknown, what) || !strings.Contains(unknown, "/"+file) {
				t.Errorf("%s: unknown %q, want that it %s", file, unknown, what)
			}
		}
	}
}

// FuzzSame makes trees of odd texts.
func FuzzSame(f *testing.F) {
	const v2 = "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n"
	f.Add("0::/a/b\n", v2, "200000 100000\n", "max 100000\n")
	f.Add("1:cpu:/a/b\n0::/\n", "30 23 0:26 / /cg rw - cgroup c rw,cpu\n"+v2, "-1\n", "50000\n")
	f.Add("0::/a/../b\n", "30 23 0:26 /a /cg rw - cgroup2 cgroup2 rw\n", "", "1")
	f.Add("0::/a/b\n", "30 23 0:26 / /c\\147 rw - cgroup2 cgroup2 rw\n"+v2, "x", "\x00")
	f.Fuzz(func(t *testing.T, procCgroup, mountinfo, leaf, parent string) {
		root := t.TempDir()
		for name, text := range map[string]string{
			"proc/self/cgroup": procCgroup, "proc/self/mountinfo": mountinfo,
			"cg/cgroup.procs": "", "cg/a/cgroup.procs": "", "cg/a/b/cgroup.procs": "",
			"cg/a/b/cpu.max": leaf, "cg/a/cpu.max": parent,
			"cg/a/b/cpu.cfs_quota_us": leaf, "cg/a/b/cpu.cfs_period_us": "100000\n",
			"cg/a/cpu.cfs_quota_us": parent, "cg/a/cpu.cfs_period_us": parent,
		} {
			file := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		same(t, root)
	})
}

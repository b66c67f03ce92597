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
	"github.com/procfit/procfit/maxprocs/internal/must"
)

// same holds what Set finds in a tree against the facts of it: there is one
// answer, found in two ways. Set spells a path as the kernel gave it, which may
// hold "//" only in odd texts.
func same(t *testing.T, root string) {
	t.Helper()
	f := must.Get(facts.ReadFS(os.DirFS(root), 0))(t)
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
		t.Errorf("its own cgroup's limit is %v, facts have %v", leaf, wantLeaf)
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
			must.Write(t, root, map[string]string{
				"proc/self/cgroup": "0::/app\n", "proc/self/mountinfo": "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n",
				"cg/app/cgroup.procs": "", "cg/app/cpu.max": "200000 100000\n",
			})
			name := filepath.Join(root, file)
			must.OK(t, errors.Join(os.Remove(name), odd(name)))
			same(t, root)
			if _, _, _, unknown := maxprocs.FindLimits(root); !strings.Contains(unknown, what) || !strings.Contains(unknown, "/"+file) {
				t.Errorf("%s: unknown %q, want that it %s", file, unknown, what)
			}
		}
	}
}

// A long list of mounts is read to its end for what is above a cgroup namespace,
// and only as far as the group's own mount where there is nothing above.
func TestMountsAreReadAsFarAsTheyMatter(t *testing.T) {
	for name, tc := range map[string]struct {
		namespace, before, after string
		want                     float64
		unknown                  bool
	}{
		"in the first namespace":           {"cgroup:[4026531835]", "", "40 23 0:26 /.. /above rw - cgroup2 cgroup2 rw\n", 2, false},
		"in another":                       {"cgroup:[4026532500]", "", "40 23 0:26 /.. /above rw - cgroup2 cgroup2 rw\n", 1, false},
		"an unknown one":                   {"", "", "40 23 0:26 /.. /above rw - cgroup2 cgroup2 rw\n", 1, false},
		"a narrower mount before":          {"cgroup:[4026531835]", "40 23 0:26 /a /narrow rw - cgroup2 cgroup2 rw\n", "", 2, false},
		"no newline at the end":            {"cgroup:[4026532500]", "", "40 23 0:26 /.. /above rw - cgroup2 cgroup2 rw", 1, false},
		"a line that is longer than all":   {"cgroup:[4026531835]", "29 1 0:5 / / rw - overlay o rw,lowerdir=" + strings.Repeat("/layer:", 20_000) + "\n", "", 2, false},
		"more than there may be of mounts": {"cgroup:[4026532500]", "", strings.Repeat("29 1 0:5 / / rw - overlay o rw\n", 1<<20), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			other := strings.Repeat("29 1 0:5 / /elsewhere rw - tmpfs tmpfs rw\n", 300)
			must.Write(t, root, map[string]string{
				"proc/self/cgroup":    "0::/a\n",
				"proc/self/mountinfo": tc.before + other + "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n" + other + tc.after,
				"cg/a/cgroup.procs":   "", "cg/a/cpu.max": "200000 100000\n",
				"narrow/cgroup.procs": "", "narrow/cpu.max": "300000 100000\n",
				"above/cgroup.procs": "", "above/cpu.max": "100000 100000\n",
			})
			if err := errors.Join(os.Mkdir(filepath.Join(root, "proc/self/ns"), 0o755),
				os.Symlink(tc.namespace, filepath.Join(root, "proc/self/ns/cgroup"))); err != nil && tc.namespace != "" {
				t.Fatal(err)
			}
			if got, _, _, unknown := maxprocs.FindLimits(root); got != tc.want || (unknown != "") != tc.unknown {
				t.Errorf("found %v, unknown %q; want %v", got, unknown, tc.want)
			}
			if tc.namespace != "cgroup:[4026531835]" {
				same(t, root)
			}
		})
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
		must.Write(t, root, map[string]string{
			"proc/self/cgroup": procCgroup, "proc/self/mountinfo": mountinfo,
			"cg/cgroup.procs": "", "cg/a/cgroup.procs": "", "cg/a/b/cgroup.procs": "",
			"cg/a/b/cpu.max": leaf, "cg/a/cpu.max": parent,
			"cg/a/b/cpu.cfs_quota_us": leaf, "cg/a/b/cpu.cfs_period_us": "100000\n",
			"cg/a/cpu.cfs_quota_us": parent, "cg/a/cpu.cfs_period_us": parent,
		})
		same(t, root)
	})
}

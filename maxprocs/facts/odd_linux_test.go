package facts

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/maxprocs/internal/must"
)

// oddFiles are what may stand where a file should.
var oddFiles = map[string]struct {
	make  func(name string) error
	state State
	says  string
}{
	"a pipe":      {func(name string) error { return syscall.Mkfifo(name, 0o644) }, Unreadable, "is a named pipe, not a file"},
	"a device":    {func(name string) error { return os.Symlink("/dev/zero", name) }, Unreadable, "is a device, not a file"},
	"a directory": {func(name string) error { return os.Mkdir(name, 0o755) }, Unreadable, "is a directory"},
	"a terabyte": {func(name string) error {
		return errors.Join(os.WriteFile(name, nil, 0o644), os.Truncate(name, 1<<40))
	}, Malformed, "MiB, unlike any such file of the kernel"},
}

// writeTree writes the tree of sys to a directory.
func writeTree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, file := range sys(nil) {
		must.Write(t, root, map[string]string{name: string(file.Data)})
	}
	return root
}

// within fails where f waits for something, or takes much memory.
func within(t *testing.T, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("it waits, or reads without an end")
	}
	runtime.ReadMemStats(&after)
	// A file of unknown size is read up to the bound, and its buffer doubled on
	// the way there.
	if n := after.TotalAlloc - before.TotalAlloc; n > 128<<20 {
		t.Errorf("%d MB allocated", n>>20)
	}
}

// TestReadOddFiles reads trees in which one file is not a file, or not of the
// kernel's making.
func TestReadOddFiles(t *testing.T) {
	for file, of := range map[string]func(Facts) Fact{
		"proc/self/status":              func(f Facts) Fact { return f.Affinity },
		"proc/self/environ":             func(f Facts) Fact { return f.Env },
		"proc/self/cgroup":              func(f Facts) Fact { return f.Cgroup.Fact },
		"proc/self/mountinfo":           func(f Facts) Fact { return f.Cgroup.Fact },
		"cg/app/cpu.max":                func(f Facts) Fact { return f.Limits[0].Fact },
		"sys/devices/system/cpu/online": func(f Facts) Fact { return f.Online },
	} {
		for what, odd := range oddFiles {
			root := writeTree(t)
			name := filepath.Join(root, file)
			must.OK(t, os.Remove(name))
			must.OK(t, odd.make(name))
			within(t, func() {
				f, err := ReadFS(os.DirFS(root), 0)
				if err != nil {
					t.Errorf("%s as %s: %v", file, what, err)
					return
				}
				fact, want := of(f), odd.state
				if file == "proc/self/environ" {
					want = Unreadable // whatever it is
				}
				if fact.State != want || !strings.Contains(fact.Error, odd.says) || !strings.Contains(fact.Error, file) {
					t.Errorf("%s as %s: %s, %q; want %s, %q", file, what, fact.State, fact.Error, want, odd.says)
				}
			})
		}
	}
}

// TestReadLiveOddFiles is the same for the reader of the running system.
func TestReadLiveOddFiles(t *testing.T) {
	for what, odd := range oddFiles {
		for _, base := range []string{"cpu.max", "environ"} {
			name := filepath.Join(t.TempDir(), base)
			must.OK(t, odd.make(name))
			within(t, func() {
				_, err := liveTree{}.readFile(name)
				if fact := failed(name, err); err == nil || fact.State != odd.state || !strings.Contains(fact.Error, odd.says) {
					t.Errorf("%s as %s: %v", base, what, err)
				}
			})
		}
	}
	// A file of /proc has no size, and is as long as what is read of it.
	if b, err := (liveTree{}).readFile("/proc/self/mountinfo"); err != nil || len(b) == 0 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

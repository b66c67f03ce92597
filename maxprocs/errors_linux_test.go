package maxprocs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/procfit/procfit/maxprocs/internal/must"
)

func TestErrorsAreTyped(t *testing.T) {
	kinds := []error{ErrNoCgroup, ErrHidden, ErrMalformed, ErrPermission}
	for name, tc := range map[string]struct {
		change func(tree)
		kind   error
		cause  error // of the system, if any
		says   string
		silent bool // Set returns nil, and the Result has it
	}{
		"no cgroup mount": {func(tr tree) { tr.write("proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n") },
			ErrNoCgroup, nil, "/proc/self/mountinfo: no mount of cgroup v2, which the program is in", true},
		"no mount shows it": {func(tr tree) { tr.write("proc/self/cgroup", "0::/elsewhere\n") },
			ErrHidden, nil, "/proc/self/mountinfo: no mount shows the cgroup /elsewhere", false},
		"a malformed limit": {func(tr tree) { tr.write("cg/pod/cpu.max", "many\n") },
			ErrMalformed, nil, `/cg/pod/cpu.max: quota: expected a positive number of microseconds, got "many"`, false},
		"malformed membership": {func(tr tree) { tr.write("proc/self/cgroup", "nothing\n") },
			ErrMalformed, nil, `/proc/self/cgroup: expected "ID:CONTROLLERS:/PATH", got "nothing"`, false},
		"malformed mounts": {func(tr tree) { tr.write("proc/self/mountinfo", "30 - cgroup2 cgroup2 rw\n") },
			ErrMalformed, nil, `/proc/self/mountinfo: expected at least 6 fields`, false},
		"not allowed": {func(tr tree) { tr.forbid("cg/pod/app/cpu.max") },
			ErrPermission, fs.ErrPermission, "/cg/pod/app/cpu.max: permission denied", false},
		"a loop of links": {func(tr tree) { tr.link("cpu.max", "cg/pod/cpu.max") },
			nil, syscall.ELOOP, "/cg/pod/cpu.max: too many levels of symbolic links", false},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTree(t)
			tr.write("cg/pod/app/cpu.max", "max 100000\n")
			tc.change(tr)
			m := &machine{procs: 8, def: 8}
			var r Result
			_, err := Set(func(c *config) { c.sys = m.system(tr.root, "unset", 8, true) }, Detail(&r))
			if (err == nil) != tc.silent || !tc.silent && err != r.Unknown {
				t.Fatalf("error %v, and the result has %v", err, r.Unknown)
			}
			for _, kind := range kinds {
				if got, want := errors.Is(r.Unknown, kind), kind == tc.kind; got != want {
					t.Errorf("%v: is it %q? %v, want %v", r.Unknown, kind, got, want)
				}
			}
			if tc.cause != nil && !errors.Is(r.Unknown, tc.cause) {
				t.Errorf("%v is not %v", r.Unknown, tc.cause)
			}
			if want := "maxprocs: not all CPU limits are known: " + tc.says; r.Unknown == nil || !strings.HasPrefix(r.Unknown.Error(), want) || !strings.Contains(r.String(), "; unknown: "+tc.says) {
				t.Errorf("%v, %s; want %s", r.Unknown, r, want)
			}
			if r.Procs != 8 {
				t.Errorf("%d Ps, want 8", r.Procs)
			}
		})
	}
}

// Two causes are both in the one error.
func TestErrorsAreAllThere(t *testing.T) {
	tr := newTree(t)
	tr.write("cg/pod/cpu.max", "many\n")
	tr.forbid("cg/pod/app/cpu.max")
	_, err := Set(func(c *config) { c.sys = (&machine{procs: 8, def: 8}).system(tr.root, "unset", 8, true) })
	if !errors.Is(err, ErrPermission) || !errors.Is(err, ErrMalformed) || errors.Is(err, ErrNoCgroup) {
		t.Errorf("%v", err)
	}
}

// forbid makes a file that this test may not read. Root may read all, so that it
// looks as another user: a file system's user is a thread's own.
func (tr tree) forbid(name string) {
	tr.write(name, "max 100000\n")
	must.OK(tr.t, os.Chmod(filepath.Join(tr.root, name), 0))
	if os.Geteuid() != 0 {
		return
	}
	must.OK(tr.t, os.Chmod(filepath.Dir(tr.root), 0o755)) // TempDir's own is for root alone
	runtime.LockOSThread()
	const nobody = 65534
	must.OK(tr.t, syscall.Setfsuid(nobody))
	tr.t.Cleanup(func() {
		syscall.Setfsuid(0)
		runtime.UnlockOSThread()
	})
}

func (tr tree) link(to, name string) {
	file := filepath.Join(tr.root, name)
	must.OK(tr.t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.Symlink(to, file)))
}

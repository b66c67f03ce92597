package automaxprocs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/automaxprocs/maxprocs"

	procfit "github.com/procfit/procfit/maxprocs"
)

// inside says that the test binary runs in a mount namespace of its own.
const inside = "PROCFIT_MANY_MOUNTS"

// TestTimes reports the time of both Sets, in alternation, here and with 2,000
// mounts more. Time is not judged in a test, which may share its machine.
func TestTimes(t *testing.T) {
	if where := os.Getenv(inside); where != "" {
		manyMounts(t, where)
		t.Logf("with 2,000 mounts %s the CPU's cgroups: %s", where, times(t, 1))
		return
	}
	t.Logf("here: %s", times(t, 50))
	if os.Geteuid() != 0 {
		t.Log("the measurement with 2,000 mounts needs root")
		return
	}
	for _, where := range []string{"after", "before"} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestTimes$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"="+where)
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, line := range strings.Split(string(out), "\n") {
			if _, said, ok := strings.Cut(line, ".go:"); ok {
				t.Log(said)
			}
		}
	}
}

// times are the medians of batches of so many calls.
func times(t *testing.T, batch int) string {
	t.Helper()
	call := func(set func() (func(), error)) time.Duration {
		began := time.Now()
		for range batch {
			undo, err := set()
			if err != nil {
				t.Fatal(err)
			}
			undo()
		}
		return time.Since(began) / time.Duration(batch)
	}
	var ours, theirs []time.Duration
	for range 41 {
		theirs = append(theirs, call(func() (func(), error) { return maxprocs.Set() }))
		ours = append(ours, call(func() (func(), error) { return procfit.Set() }))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	middle := len(ours) / 2
	return fmt.Sprintf("procfit %v, automaxprocs %v: %.2f", ours[middle], theirs[middle],
		float64(ours[middle])/float64(theirs[middle]))
}

// manyMounts puts 2,000 mounts of a directory after the mount of the CPU's
// cgroups or before it, in this process's own mount namespace.
func manyMounts(t *testing.T, where string) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	dir := t.TempDir()
	must(syscall.Mount("none", dir, "tmpfs", 0, ""))
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	cgroups, kept, empty := "/sys/fs/cgroup", filepath.Join(dir, "kept"), filepath.Join(dir, "empty")
	if _, err := os.Stat(cgroups + "/cpu"); err == nil {
		cgroups += "/cpu"
	}
	must(os.Mkdir(kept, 0o755))
	must(os.Mkdir(empty, 0o755))
	if where == "before" { // taken away, to be put back as the last
		must(syscall.Mount(cgroups, kept, "", syscall.MS_BIND, ""))
		must(syscall.Unmount(cgroups, syscall.MNT_DETACH))
	}
	for i := range 2000 {
		point := filepath.Join(dir, fmt.Sprint(i))
		must(os.Mkdir(point, 0o755))
		must(syscall.Mount(empty, point, "", syscall.MS_BIND, ""))
	}
	if where == "before" {
		must(syscall.Mount(kept, cgroups, "", syscall.MS_BIND, ""))
		must(syscall.Unmount(kept, 0))
	}
}

package facts_test

import (
	"fmt"
	"os"

	"github.com/procfit/procfit/maxprocs/facts"
)

const world = "testdata/worlds/v2-tighter-parent"

// Of this process.
func ExampleRead() {
	f := facts.Read()
	for _, l := range f.Limits {
		if l.State == facts.Known {
			fmt.Fprintf(os.Stderr, "%s: %g CPUs\n", l.File, l.CPUs)
		}
	}
	fmt.Println(f.PID == os.Getpid())
	// Output: true
}

// The facts of a recorded tree, or of a node that is mounted somewhere.
func ExampleReadFS() {
	f, err := facts.ReadFS(os.DirFS(world), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	l, _ := f.Tightest()
	fmt.Println(f.AffinityCPUs(), "CPUs,", f.CgroupMode(), l.CPUs, l.File)
	// Output: 64 CPUs, v2 1.5 /sys/fs/cgroup/pod/cpu.max
}

// The facts of another process. For many processes, a Reader reads what they share only
// once.
func ExampleReader() {
	f, err := facts.ReadPID(os.Getpid())
	if err != nil {
		fmt.Println(err) // there is no such process, or this is not Linux
		return
	}
	var r facts.Reader
	again, _ := r.ReadPID(os.Getpid())
	memory, _ := r.ReadMemory(os.Getpid())
	fmt.Println(f.EffectiveCPUs() == again.EffectiveCPUs(), memory.PID == f.PID)
}

// How a cgroup was throttled.
func ExampleParseThrottling() {
	t, err := facts.ParseThrottling("nr_periods 40\nnr_throttled 13\nthrottled_usec 1500000\n")
	fmt.Println(t.ThrottledPeriods, "of", t.Periods, t.Throttled, err)
	// Output: 13 of 40 1.5s <nil>
}

// A cgroup of this machine by its directory. [facts.Limit.Throttling] is for a limit
// that was read, also from a recorded tree.
func ExampleReadThrottling() {
	if t, err := facts.ReadThrottling("/sys/fs/cgroup/kubepods.slice"); err == nil {
		fmt.Println(t.Throttled)
	}
}

// The memory limits, for package memlimit.
func ExampleReadMemoryFS() {
	m, err := facts.ReadMemoryFS(os.DirFS(world), 0)
	_, limited := m.Tightest()
	fmt.Println(limited, err, facts.ReadMemory().PID == os.Getpid())
	// Output: false <nil> true
}

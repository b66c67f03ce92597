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

// Of a recorded tree, or of a node's that is mounted somewhere.
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

// Of another process; of many at one time by a Reader, which reads what they share
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

// How a limit has held its group back.
func ExampleParseThrottling() {
	t, err := facts.ParseThrottling("nr_periods 40\nnr_throttled 13\nthrottled_usec 1500000\n")
	fmt.Println(t.ThrottledPeriods, "of", t.Periods, t.Throttled, err)
	// Output: 13 of 40 1.5s <nil>
}

// A group of this machine by its directory; [facts.Limit.Throttling] is for a limit
// that was read, recorded ones too.
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

// What can become of a program: it runs with a number, or its runtime ends it.
func ExampleOutcomes() {
	for _, o := range facts.Outcomes() {
		fmt.Printf("%q\n", o)
	}
	// Output:
	// ""
	// "dies"
}

package topology

import (
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Core is a core, with those of its threads that may be used.
type Core struct {
	Package int // the socket; 0 where that is not known
	CPUs    []int
}

// Cores are the cores of the CPUs that may be used, by package and then by number.
// sys is what Linux mounts at /sys (Documentation/admin-guide/cputopology.rst).
func Cores(sys fs.FS, allowed []int) []Core {
	var cores []Core
	seen := map[int]bool{}
	for _, cpu := range slices.Compact(slices.Sorted(slices.Values(allowed))) {
		if seen[cpu] {
			continue
		}
		c := Core{}
		if n, ok := readNumber(sys, inTopology(cpu, "physical_package_id")); ok { // architectures without packages say -1
			c.Package = int(n)
		}
		for _, thread := range threads(sys, cpu) {
			if slices.Contains(allowed, thread) && !seen[thread] {
				seen[thread] = true
				c.CPUs = append(c.CPUs, thread)
			}
		}
		cores = append(cores, c)
	}
	sorting.Stable(cores, func(a, b Core) int { return a.Package - b.Package })
	return cores
}

// threads are the CPUs of a CPU's core, itself among them.
func threads(sys fs.FS, cpu int) []int {
	for _, name := range []string{"core_cpus_list", "thread_siblings_list"} { // the second until Linux 5.2
		b, err := readFile(sys, inTopology(cpu, name))
		if err != nil {
			continue
		}
		if list, err := parseThreads(b, cpu); err == nil {
			return list
		}
	}
	return []int{cpu}
}

// parseThreads reads the file of a CPU that lists the threads of its core. One that
// lacks the CPU itself is no such list.
func parseThreads(b []byte, cpu int) ([]int, error) {
	list, err := cpuset.Parse(string(b))
	if err != nil {
		return nil, err
	}
	if !slices.Contains(list, cpu) {
		return nil, fmt.Errorf("threads %q: CPU %d is not among those of its own core", b, cpu)
	}
	return list, nil
}

func inTopology(cpu int, name string) string {
	return fmt.Sprintf("devices/system/cpu/cpu%d/topology/%s", cpu, name)
}

// busiest is how busy the load's CPUs may be: beyond it a request waits for the load
// and not for the program.
const busiest = 0.7

// Split gives the load whole cores, from the last on, with enough CPUs that what it
// needs, in CPUs, keeps them no busier than busiest. The load gets one core at least
// and at most half of the CPUs: what needs more is to come from elsewhere. ok is false
// where the machine has less than two cores.
func Split(cores []Core, need float64) (target, load []int, ok bool) {
	if len(cores) < 2 {
		return nil, nil, false
	}
	all := 0
	for _, c := range cores {
		all += len(c.CPUs)
	}
	want := 1
	if need > 0 {
		want = int(math.Min(math.Ceil(need/busiest), float64(all)))
	}
	first := len(cores) // of the load's
	for first > 1 && len(load) < want {
		core := cores[first-1].CPUs
		if len(load) > 0 && 2*(len(load)+len(core)) > all {
			break
		}
		first--
		load = append(load, core...)
	}
	for _, c := range cores[:first] {
		target = append(target, c.CPUs...)
	}
	slices.Sort(target)
	slices.Sort(load)
	return target, load, true
}

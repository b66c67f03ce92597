package topology

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/host/cpuset"
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
		c := Core{Package: packageOf(sys, cpu)}
		for _, thread := range threads(sys, cpu) {
			if slices.Contains(allowed, thread) && !seen[thread] {
				seen[thread] = true
				c.CPUs = append(c.CPUs, thread)
			}
		}
		cores = append(cores, c)
	}
	slices.SortStableFunc(cores, func(a, b Core) int { return a.Package - b.Package })
	return cores
}

// threads are the CPUs of a CPU's core, itself among them.
func threads(sys fs.FS, cpu int) []int {
	for _, name := range []string{"core_cpus_list", "thread_siblings_list"} { // the second until Linux 5.2
		b, err := read(sys, cpu, name)
		if err != nil {
			continue
		}
		if list, err := ParseThreads(b, cpu); err == nil {
			return list
		}
	}
	return []int{cpu}
}

// ParseThreads reads the file of a CPU that lists the threads of its core. One that
// lacks the CPU itself is no such list.
func ParseThreads(b []byte, cpu int) ([]int, error) {
	list, err := cpuset.Parse(string(b))
	if err != nil {
		return nil, err
	}
	if !slices.Contains(list, cpu) {
		return nil, fmt.Errorf("threads %q: CPU %d is not among those of its own core", b, cpu)
	}
	return list, nil
}

// packageOf is the socket of a CPU; architectures without one say -1.
func packageOf(sys fs.FS, cpu int) int {
	b, err := read(sys, cpu, "physical_package_id")
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return max(0, n)
}

func read(sys fs.FS, cpu int, name string) ([]byte, error) {
	return readFile(sys, fmt.Sprintf("devices/system/cpu/cpu%d/topology/%s", cpu, name))
}

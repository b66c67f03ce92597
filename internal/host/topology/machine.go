// Package topology knows how the CPUs of a machine lie: which are threads of one core,
// in which sockets and at which nodes of memory the cores are, and which of them are
// made for performance and which for efficiency. It shares the cores out between a
// program and the load on it, and names CPUs in these terms.
//
// Threads of a core share what computes: a load on one thread slows the program on
// the other, so that a core is given whole. What cannot be read counts as a core of
// one thread, as on a machine without SMT. To be shared out, cores are taken for the same;
// of a machine with fast and slow ones the load gets those of the highest numbers,
// which are the slow ones where Linux numbers the fast ones first.
package topology

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Machine is how the CPUs that may be used lie.
type Machine struct {
	Cores []Core
	Nodes []Node // of memory, which have some of them; none: not known
	// Performance and Efficiency are the CPUs of a machine that has both; nil: all are
	// the same, or that is not known.
	Performance, Efficiency []int
	// Governor is what chooses the clock of the CPUs, as "performance"; several in order of
	// their names, "" where nothing does or that is not known
	// (Documentation/admin-guide/pm/cpufreq.rst).
	Governor string
}

// Node is memory with the CPUs that are nearest to it.
type Node struct {
	ID   int
	CPUs []int // that may be used
}

// Read reads it. sys is what Linux mounts at /sys.
func Read(sys fs.FS, allowed []int) Machine {
	m := Machine{Cores: Cores(sys, allowed), Nodes: nodes(sys, allowed)}
	m.Performance, m.Efficiency = kinds(sys, allowed)
	m.Governor = governor(sys, allowed)
	return m
}

func governor(sys fs.FS, allowed []int) string {
	var all []string
	for _, cpu := range allowed {
		if b, err := readFile(sys, fmt.Sprintf("devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu)); err == nil {
			all = append(all, phrase.Clip(phrase.Clean(strings.TrimSpace(string(b))), 40))
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// Heat counts how often the CPUs have lowered their clock because they, or their package,
// were too hot, since the machine started. It is not known on most virtual machines, and of
// processors other than Intel's (Documentation/ABI/testing/sysfs-devices-system-cpu).
func Heat(sys fs.FS, allowed []int) (times int64, known bool) {
	for _, cpu := range allowed {
		for _, of := range []string{"core", "package"} {
			if n, ok := readNumber(sys, fmt.Sprintf("devices/system/cpu/cpu%d/thermal_throttle/%s_throttle_count", cpu, of)); ok {
				times, known = times+n, true
			}
		}
	}
	return times, known
}

// Sockets is the number of packages.
func (m Machine) Sockets() int {
	seen := map[int]bool{}
	for _, c := range m.Cores {
		seen[c.Package] = true
	}
	return len(seen)
}

// Threads is the most that a core has; 1 is a machine without SMT, or that does not use
// it.
func (m Machine) Threads() int {
	most := 0
	for _, c := range m.Cores {
		most = max(most, len(c.CPUs))
	}
	return most
}

// nodes are those of devices/system/node (Documentation/ABI/stable/sysfs-devices-node).
// One that cannot be read is no node; memory without CPUs neither.
func nodes(sys fs.FS, allowed []int) (list []Node) {
	online, err := readList(sys, "devices/system/node/online")
	if err != nil {
		return nil
	}
	for _, id := range online {
		cpus, err := readList(sys, fmt.Sprintf("devices/system/node/node%d/cpulist", id))
		if err != nil {
			continue
		}
		if cpus = cpus.Within(allowed); len(cpus) > 0 {
			list = append(list, Node{id, cpus})
		}
	}
	return list
}

// slowBelow is the share of the fastest CPU's capacity below which one is an efficiency
// core: 1024 and 446 occur in one machine, but so do 1024 and 990 of cores that are
// the same but for their highest clock.
const slowBelow = 0.75

// kinds parts performance from efficiency cores: as Intel's counters for each kind list
// them, else by the capacity that the scheduler takes a CPU to have
// (Documentation/scheduler/sched-capacity.rst).
func kinds(sys fs.FS, allowed []int) (fast, slow cpuset.Set) {
	fast, err := readList(sys, "devices/cpu_core/cpus")
	slow, err2 := readList(sys, "devices/cpu_atom/cpus")
	if err != nil || err2 != nil {
		fast, slow = byCapacity(sys, allowed)
	}
	if fast, slow = fast.Within(allowed), slow.Within(allowed); len(fast) == 0 || len(slow) == 0 {
		return nil, nil
	}
	return fast, slow
}

// byCapacity needs the capacity of every CPU. The fastest has 1024.
func byCapacity(sys fs.FS, cpus []int) (fast, slow []int) {
	capacity, most := map[int]int64{}, int64(0)
	for _, cpu := range cpus {
		n, ok := readNumber(sys, fmt.Sprintf("devices/system/cpu/cpu%d/cpu_capacity", cpu))
		if !ok || n == 0 {
			return nil, nil
		}
		capacity[cpu] = n
		most = max(most, n)
	}
	for _, cpu := range cpus {
		if float64(capacity[cpu]) < slowBelow*float64(most) {
			slow = append(slow, cpu)
		} else {
			fast = append(fast, cpu)
		}
	}
	return fast, slow
}

func readList(sys fs.FS, name string) (cpuset.Set, error) {
	b, err := readFile(sys, name)
	if err != nil {
		return nil, err
	}
	return cpuset.Parse(string(b))
}

// readNumber reads a number that is not negative.
func readNumber(sys fs.FS, name string) (n int64, ok bool) {
	b, err := readFile(sys, name)
	if err == nil {
		n, err = strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	}
	return n, err == nil && n >= 0
}

// largest is more than such a file of the most CPUs that Linux can have is long.
const largest = 1 << 16

func readFile(sys fs.FS, name string) ([]byte, error) {
	f, err := sys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err == nil && len(b) > largest {
		err = errors.New("too long")
	}
	return b, err
}

// The names of CPUs, in addition to node0 and so on.
const (
	nameCores       = "cores"       // one thread of each core
	namePerformance = "performance" // those of performance cores
	nameEfficiency  = "efficiency"
)

// Select is the CPUs of a name. The error says which there are.
func (m Machine) Select(name string) ([]int, error) {
	switch name {
	case nameCores:
		if len(m.Cores) == 0 {
			return nil, fmt.Errorf("%q: the cores of this machine are not known", name)
		}
		var cpus []int
		for _, c := range m.Cores {
			cpus = append(cpus, c.CPUs[0])
		}
		slices.Sort(cpus)
		return cpus, nil
	case namePerformance, nameEfficiency:
		if m.Performance == nil {
			return nil, fmt.Errorf("%q: all CPUs of this machine are the same, or its kernel does not report which are faster", name)
		}
		if name == nameEfficiency {
			return m.Efficiency, nil
		}
		return m.Performance, nil
	}
	number, ok := strings.CutPrefix(name, "node")
	id, err := strconv.Atoi(number)
	if !ok || err != nil {
		return nil, fmt.Errorf("%q: expected CPU numbers and ranges, for example 0-1,3, or node0, %s, %s, %s", name, nameCores, namePerformance, nameEfficiency)
	}
	var have []string
	for _, n := range m.Nodes {
		if n.ID == id {
			return n.CPUs, nil
		}
		have = append(have, fmt.Sprintf("node%d", n.ID))
	}
	if have == nil {
		return nil, fmt.Errorf("%q: the nodes of this machine's memory are not known", name)
	}
	return nil, fmt.Errorf("%q: of the nodes of this machine's memory, those with CPUs that may be used are %s", name, phrase.And(have))
}

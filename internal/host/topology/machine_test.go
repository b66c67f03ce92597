package topology

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/procfit/procfit/internal/host/cpuset"
)

// world adds files of a /sys to its cores.
func world(cores fstest.MapFS, files map[string]string) fstest.MapFS {
	for name, text := range files {
		cores["devices/"+name] = &fstest.MapFile{Data: []byte(text + "\n")}
	}
	return cores
}

// repeat is a core for each number, with a second thread that many later; 0: none.
func repeat(socket, from, to, second int) (cores []string) {
	for n := from; n <= to; n++ {
		core := fmt.Sprintf("%d:%d", socket, n)
		if second > 0 {
			core += fmt.Sprintf(",%d", n+second)
		}
		cores = append(cores, core)
	}
	return cores
}

func capacities(list ...int) map[string]string {
	files := map[string]string{}
	for cpu, n := range list {
		files[fmt.Sprintf("system/cpu/cpu%d/cpu_capacity", cpu)] = fmt.Sprint(n)
	}
	return files
}

// describe is a machine in a line.
func describe(m Machine) string {
	var parts []string
	for _, n := range m.Nodes {
		parts = append(parts, fmt.Sprintf("node%d %s", n.ID, cpuset.Format(n.CPUs)))
	}
	if m.Performance != nil {
		parts = append(parts, "fast "+cpuset.Format(m.Performance)+" slow "+cpuset.Format(m.Efficiency))
	}
	return strings.Join(append([]string{fmt.Sprintf("%d/%d/%d", m.Sockets(), len(m.Cores), m.Threads())}, parts...), "; ")
}

// TestMachines reads the layouts of real machines, as their /sys has them.
func TestMachines(t *testing.T) {
	xeon := func() fstest.MapFS {
		return world(machine(append(repeat(0, 0, 15, 32), repeat(1, 16, 31, 32)...)...),
			map[string]string{"system/node/online": "0-1", "system/node/node0/cpulist": "0-15,32-47", "system/node/node1/cpulist": "16-31,48-63"})
	}
	alderLake := func(more map[string]string) fstest.MapFS {
		cores := repeat(0, 16, 19, 0)
		for n := 0; n < 16; n += 2 {
			cores = append(cores, fmt.Sprintf("0:%d-%d", n, n+1))
		}
		files := map[string]string{"system/node/online": "0", "system/node/node0/cpulist": "0-19", "cpu_core/cpus": "0-15", "cpu_atom/cpus": "16-19"}
		for name, text := range more {
			files[name] = text
		}
		return world(machine(cores...), files)
	}
	broken := world(machine("0", "1"), capacities(1024, 446))
	broken["devices/system/cpu/cpu1/cpu_capacity"].Data = []byte("x")
	for name, tc := range map[string]struct {
		sys           fstest.MapFS
		allowed, want string
	}{
		"two Xeon Gold 6130":           {xeon(), "0-63", "2/32/2; node0 0-15,32-47; node1 16-31,48-63"},
		"one of them":                  {xeon(), "0-15", "1/16/1; node0 0-15"},
		"a container across both":      {xeon(), "8,40,24", "2/2/2; node0 8,40; node1 24"},
		"an EPYC 7763 as four nodes":   {world(machine(repeat(0, 0, 15, 0)...), map[string]string{"system/node/online": "0-3", "system/node/node0/cpulist": "0-3", "system/node/node1/cpulist": "4-7", "system/node/node2/cpulist": "8-11", "system/node/node3/cpulist": "12-15"}), "0-15", "1/16/1; node0 0-3; node1 4-7; node2 8-11; node3 12-15"},
		"memory without CPUs":          {world(machine("0", "1"), map[string]string{"system/node/online": "0-1", "system/node/node0/cpulist": "0-1", "system/node/node1/cpulist": ""}), "0-1", "1/2/1; node0 0-1"},
		"a Core i7-12700":              {alderLake(nil), "0-19", "1/12/2; node0 0-19; fast 0-15 slow 16-19"},
		"its efficiency cores alone":   {alderLake(nil), "16-19", "1/4/1; node0 16-19"},
		"one whose list is unreadable": {alderLake(map[string]string{"cpu_atom/cpus": "x"}), "0-19", "1/12/2; node0 0-19"},
		"a Rockchip RK3588":            {world(machine(repeat(0, 0, 7, 0)...), capacities(530, 530, 530, 530, 1024, 1024, 1024, 1024)), "0-7", "1/8/1; fast 4-7 slow 0-3"},
		"three kinds of core":          {world(machine(repeat(0, 0, 7, 0)...), capacities(238, 238, 238, 238, 810, 810, 810, 1024)), "0-7", "1/8/1; fast 4-7 slow 0-3"},
		"a Ryzen with favoured cores":  {world(machine(repeat(0, 0, 3, 0)...), capacities(1024, 996, 968, 940)), "0-3", "1/4/1"},
		"a capacity is unreadable":     {broken, "0-1", "1/2/1"},
		"a virtual machine":            {world(machine("0:0", "1:1"), map[string]string{"system/node/online": "0", "system/node/node0/cpulist": "0-1", "system/cpu/cpu0/cpu_capacity": "1024", "system/cpu/cpu1/cpu_capacity": "1024"}), "0-1", "2/2/1; node0 0-1"},
		"nothing to read":              {fstest.MapFS{}, "0-1", "1/2/1"},
		"no CPUs":                      {xeon(), "", "0/0/0"},
	} {
		if got := describe(Read(tc.sys, list(t, tc.allowed))); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestSelect(t *testing.T) {
	two := Read(world(machine(append(repeat(0, 0, 1, 4), repeat(1, 2, 3, 4)...)...),
		map[string]string{"system/node/online": "0,2", "system/node/node0/cpulist": "0-1,4-5", "system/node/node2/cpulist": "2-3,6-7"}), list(t, "0-7"))
	hybrid := Read(world(machine("0-1", "2", "3"), map[string]string{"cpu_core/cpus": "0-1", "cpu_atom/cpus": "2-3"}), list(t, "0-3"))
	for _, tc := range []struct {
		m          Machine
		name, want string // a list, or a part of the error
	}{
		{two, "node0", "0-1,4-5"},
		{two, "node2", "2-3,6-7"},
		{two, "node1", `"node1": of the nodes of this machine's memory, those with CPUs that may be used are node0 and node2`},
		{two, "cores", "0-3"},
		{two, "performance", "are the same"},
		{two, "efficiency", "are the same"},
		{two, "nodes", `expected CPU numbers and ranges`},
		{two, "node-1", `of the nodes`},
		{two, "", `expected CPU numbers`},
		{hybrid, "performance", "0-1"},
		{hybrid, "efficiency", "2-3"},
		{hybrid, "cores", "0,2-3"},
		{hybrid, "node0", "are not known"},
		{Machine{}, "cores", "are not known"},
	} {
		cpus, err := tc.m.Select(tc.name)
		got := cpuset.Format(cpus)
		if err != nil {
			got = err.Error()
		}
		if got != tc.want && (err == nil || !strings.Contains(got, tc.want)) {
			t.Errorf("%q: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func FuzzMachine(f *testing.F) {
	f.Add("0-1", "0-3", "4-7", "0-3", "4-7", "1024")
	f.Add("0", "0-7", "", "x", "", "0")
	f.Add("0-9", "", "0-99999", "0", "0", "-1")
	f.Fuzz(func(t *testing.T, online, node0, node1, core, atom, capacity string) {
		sys := world(fstest.MapFS{}, map[string]string{
			"system/node/online": online, "system/node/node0/cpulist": node0, "system/node/node1/cpulist": node1,
			"cpu_core/cpus": core, "cpu_atom/cpus": atom, "system/cpu/cpu0/cpu_capacity": capacity, "system/cpu/cpu1/cpu_capacity": "1024",
		})
		m := Read(sys, []int{0, 1, 5})
		for _, n := range m.Nodes {
			if len(n.CPUs) == 0 || len(n.CPUs) > 3 {
				t.Errorf("node%d has %v", n.ID, n.CPUs)
			}
		}
		if (m.Performance == nil) != (m.Efficiency == nil) || len(m.Performance)+len(m.Efficiency) > 6 {
			t.Errorf("fast %v, slow %v", m.Performance, m.Efficiency)
		}
	})
}

func TestGovernorAndHeat(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	of := func(cpu int, name string) string { return fmt.Sprintf("devices/system/cpu/cpu%d/%s", cpu, name) }
	laptop := fstest.MapFS{
		of(0, "cpufreq/scaling_governor"): file("powersave"), of(1, "cpufreq/scaling_governor"): file("powersave"), of(2, "cpufreq/scaling_governor"): file("performance"),
		of(0, "thermal_throttle/core_throttle_count"): file("3"), of(0, "thermal_throttle/package_throttle_count"): file("4"),
		of(1, "thermal_throttle/core_throttle_count"): file("x"), of(2, "thermal_throttle/core_throttle_count"): file("100"),
	}
	for name, c := range map[string]struct {
		sys      fstest.MapFS
		allowed  []int
		governor string
		heat     int64
		known    bool
	}{
		"of the CPUs that may be used": {laptop, []int{0, 1}, "powersave", 7, true},
		"several governors":            {laptop, []int{0, 1, 2}, "performance, powersave", 107, true},
		"what is no number":            {laptop, []int{1}, "powersave", 0, false},
		"a virtual machine":            {fstest.MapFS{}, []int{0}, "", 0, false},
	} {
		if m := Read(c.sys, c.allowed); m.Governor != c.governor {
			t.Errorf("%s: governor %q, want %q", name, m.Governor, c.governor)
		}
		if n, known := Heat(c.sys, c.allowed); n != c.heat || known != c.known {
			t.Errorf("%s: %d %v, want %d %v", name, n, known, c.heat, c.known)
		}
	}
}

package topology

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/test/must"
)

// machine is a /sys of cores, each a list of threads; "1:" before one is its socket.
func machine(cores ...string) fstest.MapFS {
	sys := fstest.MapFS{}
	for _, core := range cores {
		socket, list, ok := strings.Cut(core, ":")
		if !ok {
			socket, list = "0", core
		}
		cpus, err := cpuset.Parse(list)
		if err != nil {
			panic(err)
		}
		for _, cpu := range cpus {
			dir := fmt.Sprintf("devices/system/cpu/cpu%d/topology/", cpu)
			sys[dir+"core_cpus_list"] = &fstest.MapFile{Data: []byte(list + "\n")}
			sys[dir+"physical_package_id"] = &fstest.MapFile{Data: []byte(socket + "\n")}
		}
	}
	return sys
}

func list(t *testing.T, s string) []int {
	t.Helper()
	return must.Get(cpuset.Parse(s))(t)
}

func TestCores(t *testing.T) {
	old := machine("0,4", "1,5")
	for _, cpu := range []int{0, 1, 4, 5} {
		dir := fmt.Sprintf("devices/system/cpu/cpu%d/topology/", cpu)
		old[dir+"thread_siblings_list"] = old[dir+"core_cpus_list"]
		delete(old, dir+"core_cpus_list")
	}
	broken := machine("0-1", "2-3")
	broken["devices/system/cpu/cpu0/topology/core_cpus_list"].Data = []byte("2-3\n") // not its own
	broken["devices/system/cpu/cpu2/topology/core_cpus_list"].Data = []byte("x")
	broken["devices/system/cpu/cpu2/topology/physical_package_id"].Data = []byte("-1\n")
	for name, tc := range map[string]struct {
		sys     fstest.MapFS
		allowed string
		want    []Core
	}{
		"one thread each":   {machine("0", "1"), "0-1", []Core{{0, []int{0}}, {0, []int{1}}}},
		"siblings far away": {machine("0,4", "1,5"), "0-1,4-5", []Core{{0, []int{0, 4}}, {0, []int{1, 5}}}},
		"the older name":    {old, "0-1,4-5", []Core{{0, []int{0, 4}}, {0, []int{1, 5}}}},
		"half a core":       {machine("0,4", "1,5"), "0,1,5", []Core{{0, []int{0}}, {0, []int{1, 5}}}},
		"by socket":         {machine("1:0", "0:1", "1:2"), "0-2", []Core{{0, []int{1}}, {1, []int{0}}, {1, []int{2}}}},
		"nothing to read":   {fstest.MapFS{}, "3,5", []Core{{0, []int{3}}, {0, []int{5}}}},
		"unlike a topology": {broken, "0-3", []Core{{0, []int{0}}, {0, []int{1}}, {0, []int{2}}, {0, []int{3}}}},
	} {
		got := Cores(tc.sys, list(t, tc.allowed))
		if !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestSplit(t *testing.T) {
	single := func(n int) (cores []string) {
		for i := range n {
			cores = append(cores, fmt.Sprint(i))
		}
		return cores
	}
	smt := []string{"0,4", "1,5", "2,6", "3,7"}
	for name, tc := range map[string]struct {
		cores        []string
		need         float64
		target, load string // "" with no target: cannot be split
	}{
		"one CPU will do":        {single(8), 0.1, "0-6", "7"},
		"nothing is known":       {single(8), 0, "0-6", "7"},
		"just":                   {single(8), 0.7, "0-6", "7"},
		"just not":               {single(8), 0.71, "0-5", "6-7"},
		"two and a half":         {single(8), 2.5, "0-3", "4-7"},
		"at most half":           {single(8), 7, "0-3", "4-7"},
		"at most half of an odd": {single(5), 4, "0-2", "3-4"},
		"four":                   {single(4), 0.2, "0-2", "3"},
		"a core of two threads":  {smt, 0.2, "0-2,4-6", "3,7"},
		"two such cores":         {smt, 1.5, "0-1,4-5", "2-3,6-7"},
		"two cores":              {[]string{"0-1", "2-3"}, 0.2, "0-1", "2-3"},
		"a wide one and a thin":  {[]string{"0", "1-3"}, 0.2, "0", "1-3"},
		"the last socket":        {[]string{"1:0", "1:1", "0:2", "0:3"}, 0.2, "0,2-3", "1"},
		"endless":                {single(4), 1e300, "0-1", "2-3"},
		"one core":               {[]string{"0-3"}, 0.2, "", ""},
	} {
		sys := machine(tc.cores...)
		var all []int
		for _, c := range tc.cores {
			if _, cpus, ok := strings.Cut(c, ":"); ok {
				c = cpus
			}
			all = append(all, list(t, c)...)
		}
		target, load, ok := Split(Cores(sys, all), tc.need)
		if cpuset.Format(target) != tc.target || cpuset.Format(load) != tc.load || ok != (tc.target != "") {
			t.Errorf("%s: target %v, load %v, %v; want %s and %s", name, target, load, ok, tc.target, tc.load)
		}
	}
}

func FuzzParseThreads(f *testing.F) {
	f.Add([]byte("0,4\n"), 4)
	f.Add([]byte("0-1"), 0)
	f.Add([]byte(""), 0)
	f.Add([]byte("1-0"), 1)
	f.Fuzz(func(t *testing.T, b []byte, cpu int) {
		got, err := parseThreads(b, cpu)
		if err == nil && (!slices.Contains(got, cpu) || !slices.IsSorted(got)) {
			t.Errorf("%q of CPU %d: %v", b, cpu, got)
		}
		dir := "devices/system/cpu/cpu0/topology/"
		sys := fstest.MapFS{dir + "core_cpus_list": {Data: b}, dir + "physical_package_id": {Data: b}}
		var all []int
		for _, c := range Cores(sys, []int{0, 1, 2, 3}) {
			all = append(all, c.CPUs...)
		}
		if slices.Sort(all); !slices.Equal(all, []int{0, 1, 2, 3}) {
			t.Errorf("%q: the cores have CPUs %v of 0-3", b, all)
		}
	})
}

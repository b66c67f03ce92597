package vm

import (
	"fmt"
	"strconv"
	"testing"
)

// newOrder puts a cell's values into numbers for the machine.
func newOrder(id int, c cell) order {
	cpus, _ := strconv.Atoi(c.value(fCPUs))
	o := order{ID: id, Program: programPath(c.value(fProgram)), View: c.value(fView), Env: []string{}}
	o.CgroupAt, o.CpusetAt, o.Version, o.CpusetVersion = places(c.value(fCgroup))
	o.Quotas, o.Period = quotas(c.value(fLimit), c.value(fNesting), cpus)
	half := max(1, cpus/2)
	switch c.value(fCpuset) {
	case "mask of one":
		o.Affinity = []int{cpus - 1}
	case "mask of half":
		for cpu := range half {
			o.Affinity = append(o.Affinity, cpu)
		}
	case "group of half":
		o.Cpuset = fmt.Sprintf("%d-%d", cpus-half, cpus-1)
	}
	switch v := c.value(fEnv); v {
	case "unset":
	case "empty":
		o.Env = append(o.Env, "GOMAXPROCS=")
	default:
		o.Env = append(o.Env, "GOMAXPROCS="+v)
	}
	if v := c.value(fGODEBUG); v != "unset" {
		o.Env = append(o.Env, "GODEBUG="+v)
	}
	return o
}

// places is where the controllers are and in which version.
func places(arrangement string) (cgroupAt, cpusetAt string, version, cpusetVersion int) {
	const root = "/sys/fs/cgroup"
	switch arrangement {
	case "v1":
		return root + "/cpu", root + "/cpuset", 1, 1
	case "hybrid":
		return root + "/cpu", root + "/unified", 1, 2
	}
	return root, root, 2, 2
}

// quotas are the limits from the top group to the probe's own, in µs of each
// period; 0 is none. The tighter parent of a leaf of 20 CPUs has 1.5
// (golang/go#81180 in numbers), that of another one half of it. One CPU or less
// comes in periods of 1 s, the kernel's longest: a program that starts under
// emulation then has what it needs at once, instead of in slices.
func quotas(limit, nesting string, cpus int) (fromTop []int64, period int64) {
	ratio, period := 0.0, int64(100_000)
	switch limit {
	case "none":
	case "above the CPUs":
		ratio = float64(cpus) + 0.5
	default:
		ratio, _ = strconv.ParseFloat(limit, 64)
	}
	parent := ratio / 2
	switch {
	case nesting == "tighter leaf":
		parent = 2 * ratio
	case limit == "none" || limit == "20":
		parent = 1.5
	}
	if ratio > 0 && min(ratio, parent) <= 1 {
		period = 1_000_000
	}
	micros := func(cpus float64) int64 { return int64(cpus * float64(period)) }
	if nesting == "one group" {
		return []int64{micros(ratio)}, period
	}
	return []int64{micros(parent), micros(ratio)}, period
}

func TestQuotas(t *testing.T) {
	for _, tc := range []struct {
		limit, nesting string
		want           string
	}{
		{"none", "one group", "[0] 100000"},
		{"0.25", "one group", "[250000] 1000000"},
		{"above the CPUs", "one group", "[850000] 100000"},
		{"20", "tighter parent", "[150000 2000000] 100000"},
		{"2.5", "tighter parent", "[125000 250000] 100000"},
		{"1.5", "tighter parent", "[750000 1500000] 1000000"},
		{"none", "tighter parent", "[150000 0] 100000"},
		{"0.5", "tighter leaf", "[1000000 500000] 1000000"},
	} {
		limits, period := quotas(tc.limit, tc.nesting, 8)
		if got := fmt.Sprint(limits, period); got != tc.want {
			t.Errorf("%s, %s: %s, want %s", tc.limit, tc.nesting, got, tc.want)
		}
	}
}

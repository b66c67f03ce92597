package facts

import (
	"strings"
	"testing"
)

// on is a program on CPUs, with a limit of its own cgroup where that is above 0.
func on(cpus, limit float64) Facts {
	f := Facts{Affinity: Fact{State: Known, CPUs: cpus}, GoVersion: "go1.26.1", Env: Fact{State: Absent}}
	f.Cgroup = Cgroup{Fact: Fact{State: Known}, Version: 2, MountRoot: "/", RootSeen: true}
	f.Limits = []Limit{{Dir: "/g", Fact: Fact{State: NoLimit, File: "/g/cpu.max", Raw: "max 100000\n"}}}
	if limit > 0 {
		f.Limits[0].Fact = Fact{State: Known, CPUs: limit, File: "/g/cpu.max", Raw: cpusText(limit*100000) + " 100000\n"}
	}
	return f
}

// TestCRIOPublished holds the figures of CRI-O's own tests, TestCalculateGOMAXPROCS of
// gomaxprocs_hooks_linux_test.go before and after cri-o/cri-o#9961.
func TestCRIOPublished(t *testing.T) {
	for _, tc := range []struct {
		shares        int64
		floor         int
		first, second int
	}{
		{2048, 4, 4, 4}, {512, 4, 4, 4}, {8192, 4, 8, 16}, {1024, 4, 4, 4}, {4096, 4, 4, 8}, {16384, 4, 16, 32},
		{2, 4, 4, 4}, {102, 4, 4, 4}, {5120, 2, 5, 10}, {256, 1, 1, 1}, {3072, 2, 3, 6}, {4096, 8, 8, 8},
	} {
		for _, first := range []bool{true, false} {
			want := tc.second
			if first {
				want = tc.first
			}
			if n, why := (CRIO{Shares: tc.shares, Floor: tc.floor, First: first}).Injects(); n != want || why != "" {
				t.Errorf("shares %d, floor %d, first %v: %d %q, want %d", tc.shares, tc.floor, first, n, why, want)
			}
		}
	}
}

// TestCRIO: every case of shares, floor, formula, limit and pod.
func TestCRIO(t *testing.T) {
	calculated := map[int64][2]int{2: {1, 1}, 512: {1, 1}, 1024: {1, 2}, 2048: {2, 4}, 4096: {4, 8}, 8192: {8, 16}}
	for shares, by := range calculated {
		for _, floor := range []int{0, 1, 4, 8} {
			for i, first := range []bool{true, false} {
				p := CRIO{Shares: shares, Floor: floor, First: first}
				injected := by[i]
				if floor > injected {
					injected = floor
				}
				partitioned, guaranteed, skipped := p, p, p
				partitioned.Partitioned, guaranteed.Guaranteed, skipped.Skip = true, true, true
				const all, limit = 64, 3
				for what, tc := range map[string]struct {
					policy Policy
					facts  Facts
					want   int
				}{
					"no limit":    {p, on(all, 0), injected},
					"a limit":     {p, on(all, limit), limit},
					"guaranteed":  {guaranteed, on(all, 0), all},
					"skipped":     {skipped, on(all, 0), all},
					"a partition": {partitioned, on(all, 0), injected},
					"few CPUs":    {p, on(1, 0), injected},
				} {
					switch {
					case floor == 0 && what == "few CPUs":
						tc.want = 1
					case floor == 0 && what != "a limit", what == "a partition" && first:
						tc.want = all
					}
					if d := Decide(tc.facts, tc.policy); d.Procs != tc.want {
						t.Errorf("shares %d, floor %d, first %v, %s: %d, want %d: %v", shares, floor, first, what, d.Procs, tc.want, d)
					}
				}
			}
		}
	}
}

// TestCRIOLeavesToRuntime: under a limit, and with any variable, the program's own release
// decides: one before Go 1.25 gets nothing and uses all CPUs.
func TestCRIOLeavesToRuntime(t *testing.T) {
	p := CRIO{Shares: 2048, Floor: 1}
	old := on(64, 2)
	old.GoVersion = "go1.24.6"
	if d := Decide(old, p); d.Procs != 64 || !strings.Contains(d.String(), "injects nothing: the container has a CPU limit") {
		t.Error(d)
	}
	set := on(64, 0)
	set.Env = Fact{State: Known, Raw: "16"}
	if d := Decide(set, p); d.Procs != 16 {
		t.Error(d)
	}
	set.Env.Raw = "0" // the runtime ignores it, CRI-O does not
	if d := Decide(set, p); d.Procs != 64 {
		t.Error(d)
	}
	// A limit of a parent alone is not the container's.
	parent := on(64, 0)
	parent.Limits = append(parent.Limits, Limit{Dir: "/", Fact: Fact{State: Known, CPUs: 2}})
	if d := Decide(parent, p); d.Procs != 4 {
		t.Error(d)
	}
}

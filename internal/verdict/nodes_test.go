package verdict_test

import (
	"testing"

	"github.com/procfit/procfit/internal/host/cpuset"
	. "github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

// TestSpannedNodes warns where the target's CPUs are at several nodes of memory, and
// nowhere else.
func TestSpannedNodes(t *testing.T) {
	two := []journal.Node{{ID: 0, CPUs: cpuset.Set{0, 1, 2, 3}}, {ID: 1, CPUs: cpuset.Set{4, 5, 6, 7}}}
	for name, tc := range map[string]struct {
		nodes    []journal.Node
		list     cpuset.Set
		attached bool
		want     int // nodes in the warning; 0: none
	}{
		"all CPUs of two":     {two, nil, false, 2},
		"CPUs of both":        {two, cpuset.Set{3, 4}, false, 2},
		"one node":            {two, cpuset.Set{4, 5, 6, 7}, false, 0},
		"a machine of one":    {[]journal.Node{{ID: 0, CPUs: cpuset.Set{0, 1, 2, 3, 4, 5, 6, 7}}}, nil, false, 0},
		"a server as it runs": {two, nil, true, 0},
		"not known":           {nil, nil, false, 0},
	} {
		h, trials := Generate(Config{Settings: CPUServer(), Noise: &Noise{}})
		h.TargetHost.Topology, h.Target.ServerCPUs = &journal.Topology{Nodes: tc.nodes}, tc.list
		if tc.attached {
			h.Target.Attached = &journal.Process{PID: 1}
		}
		if x, _ := warned[SpansNodes](Analyze(h, trials)); len(x.Nodes) != tc.want {
			t.Errorf("%s: a warning of %d nodes, want %d", name, len(x.Nodes), tc.want)
		}
	}
}

// TestKindsOfCores warns where the target may run on both kinds of cores.
func TestKindsOfCores(t *testing.T) {
	for name, tc := range map[string]struct {
		fast, slow, list cpuset.Set
		want             bool
	}{
		"all CPUs of both":      {cpuset.Set{0, 1, 2, 3}, cpuset.Set{4, 5, 6, 7}, nil, true},
		"one of each":           {cpuset.Set{0, 1, 2, 3}, cpuset.Set{4, 5, 6, 7}, cpuset.Set{3, 4}, true},
		"performance cores":     {cpuset.Set{0, 1, 2, 3}, cpuset.Set{4, 5, 6, 7}, cpuset.Set{0, 1}, false},
		"a machine of one kind": {nil, nil, nil, false},
	} {
		h, trials := Generate(Config{Settings: CPUServer(), Noise: &Noise{}})
		h.TargetHost.Topology, h.Target.ServerCPUs = &journal.Topology{PerformanceCPUs: tc.fast, EfficiencyCPUs: tc.slow}, tc.list
		if got := has[SpansKinds](Analyze(h, trials)); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// TestNeighbourTakesNobodysPart: what runs next to the target as was asked excludes
// nothing, and is no other program.
func TestNeighbourTakesNobodysPart(t *testing.T) {
	h, trials := Generate(Config{Settings: CPUServer(), Noise: &Noise{}, OtherCPUs: 6, Trial: func(t *journal.Trial) {
		t.HostUse.OtherCPUSeconds = new(0.0)
		t.BesideCPUSeconds = new(6 * t.MeasuredSeconds)
	}})
	g := Analyze(h, trials).Groups[0]
	if len(g.Others.TooFewCPUs) > 0 || g.Others.Matter || g.Workload.CPUUtilisation != nil || g.Workload.Kind != "unknown" {
		t.Errorf("%+v, %+v", g.Others, g.Workload)
	}
	if e := g.Settings[0].Evidence; e.BesideCPUs == nil || *e.BesideCPUs != 6 {
		t.Errorf("%+v", e)
	}
}

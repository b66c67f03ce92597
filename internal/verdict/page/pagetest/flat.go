package pagetest

import (
	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// Flat is a sweep of a program that allocates so much that its number of Ps hardly
// matters, beside a neighbour, on a machine of two nodes of memory.
func Flat() *verdict.Result {
	c := verdicttest.Config{Seed: 6, CPUs: 8, Settings: alike(8, 1, 2, 4, 8), Noise: &verdicttest.Noise{Trial: 0.004, P99: 0.02}, Trial: func(t *journal.Trial) {
		procs := float64(*t.ObservedProcs[0])
		t.Memory = &journal.Memory{RSSBytes: new(int64(96 << 20)), PeakRSSBytes: 128<<20 + int64(procs)<<20}
		t.GC = &journal.GC{Cycles: 125, PauseSeconds: 0.03, HeapBytes: 90 << 20, SpanSeconds: 1.5, CPUSeconds: new(0.18 * procs), BusySeconds: new(procs)}
		t.BesideCPUSeconds = new(0.25 * t.MeasuredSeconds)
	}}
	return analyze("server", c, func(h *journal.Header, trials []journal.Trial) []journal.Trial {
		h.TargetHost.Topology = &journal.Topology{Sockets: 2, Cores: 4, ThreadsPerCore: 2, Nodes: []journal.Node{{ID: 0, CPUs: cpuset.Set{0, 1, 4, 5}}, {ID: 1, CPUs: cpuset.Set{2, 3, 6, 7}}}}
		h.Target.ServerCPUs, h.Target.Beside = nil, &journal.Beside{Command: []string{"./proxy", "-upstream", "127.0.0.1:{port}"}, QuotaCPUs: new(0.5)}
		return trials
	})
}

package page_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/internal/verdict/stat"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

// collecting are trials of a program with so many cycles in a hundred seconds, which took
// that share of its busy time; below zero it is not known.
func collecting(cycles int64, share float64) func(*journal.Trial) {
	return func(t *journal.Trial) {
		t.Memory = &journal.Memory{RSSBytes: new(int64(20 << 20)), PeakRSSBytes: 30 << 20}
		t.GC = &journal.GC{Cycles: cycles, PauseSeconds: float64(cycles) * 0.0002, HeapBytes: cycles << 11, SpanSeconds: 100}
		if share >= 0 {
			t.GC.CPUSeconds, t.GC.BusySeconds = new(share*40), new(40.0)
		}
	}
}

// Beside a flat curve stands that a program allocates where its metrics say so, and
// nowhere else.
func TestAllocatesInWords(t *testing.T) {
	alike := []Truth{Unset(4, 1000, .01), Set(1, 1000, .01), Set(2, 1000, .01), Set(4, 1000, .01), Set(8, 1000, .01)}
	const says = "It allocates a lot: a GC cycle every 12.5 ms took 18% of its busy CPU time"
	for name, c := range map[string]struct {
		config Config
		want   bool
	}{
		"much":              {Config{Settings: alike, Trial: collecting(8000, 0.18)}, true},
		"little":            {Config{Settings: alike, Trial: collecting(8000, 0.09)}, false},
		"seldom":            {Config{Settings: alike, Trial: collecting(99, 0.18)}, false},
		"its time unknown":  {Config{Settings: alike, Trial: collecting(8000, -1)}, false},
		"nothing is known":  {Config{Settings: alike}, false},
		"a curve not flat":  {Config{Settings: CPUServer(), Trial: collecting(8000, 0.18)}, false},
		"a rate is carried": {Config{Settings: CPUServer(), Trial: collecting(8000, 0.18), Rate: 30000, SmallFor: true}, false},
	} {
		r := analyze(c.config)
		got := said(r)
		if strings.Contains(got, says) != c.want || strings.Contains(got, "GOMEMLIMIT") != c.want {
			t.Errorf("%s: %q", name, got)
		}
		if flat := strings.Contains(got, "makes no difference"); flat && !c.want && !strings.Contains(got, "Profile the program first") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// under is the first row's cell under a heading, of a sweep with such trials; empty: the table has no
// such column.
func under(head string, trial func(*journal.Trial)) document.Cell {
	table := sections(analyze(Config{Settings: CPUServer(), Trial: trial}))[0].Table
	if i := slices.IndexFunc(table.Columns, func(c document.Column) bool { return c.Head == head }); i >= 0 {
		return table.Rows[0].Cells[i]
	}
	return document.Cell{}
}

// The metrics are in the table; without any there is no column.
func TestMemoryInATable(t *testing.T) {
	for head, want := range map[string]document.Cell{"GC share of CPU time": {Value: "18%", Detail: "one cycle every 12.5 ms"}, "Peak memory": {Value: "30 MiB", Detail: "20 MiB at the end"}} {
		if got, none := under(head, collecting(8000, 0.18)), under(head, nil); got != want || none != (document.Cell{}) {
			t.Errorf("%s: %+v, and where nothing is known %+v", head, got, none)
		}
	}
}

// What a program next to the target leaves of the CPUs is no sign of one that waits.
func TestNeighbourInAReport(t *testing.T) {
	r := analyze(Config{Settings: CPUServer(), OtherCPUs: 4, Trial: func(t *journal.Trial) {
		t.HostUse.OtherCPUSeconds = new(0.0)
		t.BesideCPUSeconds = new(4 * t.MeasuredSeconds)
	}})
	if got := fact(r, "Workload"); !strings.HasPrefix(got, "unknown") {
		t.Errorf("the workload is %q", got)
	}
}

func TestTopologyInWords(t *testing.T) {
	two := []journal.Node{{ID: 0, CPUs: cpuset.Set{0, 1, 2, 3, 4, 5, 6, 7}}, {ID: 1, CPUs: cpuset.Set{8, 9, 10, 11, 12, 13, 14, 15}}}
	for want, m := range map[string]*journal.Topology{
		"":                  nil,
		"1 socket; 2 cores": {Sockets: 1, Cores: 2, ThreadsPerCore: 1, Nodes: two[:1]},
		"2 sockets; 8 cores of 2 threads; 2 NUMA nodes (node0: 0-7; node1: 8-15)":                       {Sockets: 2, Cores: 8, ThreadsPerCore: 2, Nodes: two},
		"1 socket; 12 cores of 2 threads; performance cores are CPUs 0-15, efficiency cores CPUs 16-19": {Sockets: 1, Cores: 12, ThreadsPerCore: 2, PerformanceCPUs: cpuset.Set{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, EfficiencyCPUs: cpuset.Set{16, 17, 18, 19}},
	} {
		r := pagetest.Typical()
		r.Host.Topology = m
		if got := fact(r, "Topology"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	h, trials := Generate(Config{Settings: CPUServer(), Noise: quiet})
	h.TargetHost.Topology = &journal.Topology{Sockets: 2, Cores: 8, ThreadsPerCore: 2, Nodes: two}
	const says = "the target's CPUs are on 2 NUMA nodes (node0: 0-7; node1: 8-15), and memory of another node takes longer to reach"
	all := notes(verdict.Analyze(h, trials))
	if !slices.ContainsFunc(all, func(w document.Note) bool {
		return w.Message == says && strings.Contains(w.Fix, "--cpus target=node0")
	}) {
		t.Errorf("%+v", all)
	}
}

// A burst is named with the limit, and what of it was used stands next to the throttling.
func TestBurstInATable(t *testing.T) {
	for bursts, want := range map[int64]string{250: "burst used in 25%", 0: ""} {
		got := under("Throttled periods", func(t *journal.Trial) {
			t.Cgroup = &journal.Cgroup{Periods: 1000, ThrottledPeriods: 100, Bursts: bursts, BurstSeconds: 1}
		})
		if got.Value != "10%" || got.Detail != want {
			t.Errorf("%d bursts: %+v", bursts, got)
		}
	}
}

// Page faults that hold Ps have a column, with how many there were; where they hold none
// there is no column.
func TestHeldInATable(t *testing.T) {
	for held, want := range map[*float64]document.Cell{new(1.44): {Value: "1.4", Detail: "500 faults/s"}, nil: {}, new(0.0): {}, new(0.001): {}} {
		got := under("Ps held by page faults", func(t *journal.Trial) {
			t.PageFaults = &journal.PageFaults{Major: int64(500 * t.MeasuredSeconds), HeldSeconds: stat.Scaled(held, t.MeasuredSeconds)}
		})
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

package trial

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Of runs one after the other the cycles add up, and of memory the most counts.
func TestMemoryOfRuns(t *testing.T) {
	run := func(cycles, heap, peak int64) journal.Usage {
		return journal.Usage{Memory: &journal.Memory{PeakRSSBytes: peak}, BesideCPUSeconds: new(0.5),
			GC: &journal.GC{Cycles: cycles, HeapBytes: heap, SpanSeconds: 1, CPUSeconds: new(0.25), BusySeconds: new(1.0)}}
	}
	var sum journal.Usage
	for _, u := range []journal.Usage{run(3, 40, 70), {}, run(5, 30, 90), run(1, 20, 60)} {
		addUsage(&sum, u)
	}
	if g := sum.GC; g == nil || g.Cycles != 9 || g.HeapBytes != 40 || g.SpanSeconds != 3 || *g.CPUSeconds != 0.75 || *g.BusySeconds != 3 {
		t.Errorf("%+v", g)
	}
	if sum.Memory == nil || sum.Memory.PeakRSSBytes != 90 || *sum.BesideCPUSeconds != 1.5 {
		t.Errorf("%+v, %v", sum.Memory, sum.BesideCPUSeconds)
	}
}

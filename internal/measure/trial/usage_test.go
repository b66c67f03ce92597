package trial

import (
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Of runs one after the other the cycles add up, and of memory the most counts.
func TestMemoryOfRuns(t *testing.T) {
	run := func(cycles, heap, peak int64) journal.Usage {
		return journal.Usage{MeasuredSeconds: 1, Memory: &journal.Memory{PeakRSSBytes: peak},
			GC: &journal.GC{Cycles: cycles, HeapBytes: heap, SpanSeconds: 1, CPUSeconds: new(0.25), BusySeconds: new(1.0)}}
	}
	var sum journal.Usage
	for _, u := range []journal.Usage{run(3, 40, 70), {}, run(5, 30, 90), run(1, 20, 60)} {
		addUsage(&sum, u)
	}
	if g := sum.GC; g == nil || g.Cycles != 9 || g.HeapBytes != 40 || g.SpanSeconds != 3 || *g.CPUSeconds != 0.75 || *g.BusySeconds != 3 {
		t.Errorf("%+v", g)
	}
	if sum.Memory == nil || sum.Memory.PeakRSSBytes != 90 {
		t.Errorf("%+v", sum.Memory)
	}
}

// What threads waited and used, and the neighbour used, in all runs is not known where that of one run is not.
func TestUnknownOfARun(t *testing.T) {
	known, unknown := journal.Usage{MeasuredSeconds: 0.1, RunQueueWaitSeconds: new(0.25), CPUSeconds: &journal.CPUSeconds{User: 1}, BesideCPUSeconds: new(0.5)}, journal.Usage{MeasuredSeconds: 0.1}
	for name, c := range map[string]struct {
		runs []journal.Usage
		want *float64
	}{
		"all":       {[]journal.Usage{known, known}, new(0.5)},
		"the first": {[]journal.Usage{known, unknown, known}, nil},
		"the last":  {[]journal.Usage{unknown, known}, nil},
		"none":      {[]journal.Usage{unknown}, nil},
	} {
		var sum journal.Usage
		for _, u := range c.runs {
			addUsage(&sum, u)
		}
		if got := sum.RunQueueWaitSeconds; (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s are known: %v, want %v", name, got, c.want)
		}
		if (sum.CPUSeconds == nil) != (c.want == nil) || (sum.BesideCPUSeconds == nil) != (c.want == nil) {
			t.Errorf("%s are known: %+v, neighbour %v", name, sum.CPUSeconds, sum.BesideCPUSeconds)
		}
	}
}

// What some processes waited is not what the target did.
func TestCountUncounted(t *testing.T) {
	for uncounted, known := range []bool{true, false, false} {
		var u journal.Usage
		Count(&u, observe.Use{Processes: 2, Uncounted: uncounted, RunQueueWait: time.Second, Voluntary: 3})
		if (u.RunQueueWaitSeconds != nil) != known || (u.ContextSwitches != nil) != known || u.CPUSeconds == nil {
			t.Errorf("%d of 2 not counted: %+v", uncounted, u)
		}
	}
}

// What other programs used is counted from half a second on; before, it is at most that and
// two ticks of each CPU.
func TestCountOthers(t *testing.T) {
	use := journal.HostUse{TargetCPUs: 2}
	if CountOthers(&use, 0.25, Tellable); use.OtherCPUSeconds == nil || *use.OtherCPUSeconds != 0.25 || use.MostOtherCPUSeconds != nil {
		t.Errorf("%+v", use)
	}
	if CountOthers(&use, 0.25, Tellable-1); use.OtherCPUSeconds != nil || use.MostOtherCPUSeconds == nil || *use.MostOtherCPUSeconds != 0.29 {
		t.Errorf("%+v", use)
	}
}

package verdict

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
)

const (
	// collectsMuch is the share of a program's busy time from which on its garbage
	// collector is the likelier thing to turn than its number of Ps.
	collectsMuch = 0.1
	// fewestCycles in a second, of a process, tell a program that allocates from one that
	// collected once while it was looked at.
	fewestCycles = 1
)

// Allocates is that a flat curve is of a program whose garbage collector takes much of
// its time.
type Allocates struct {
	Setting         string  `json:"setting"`           // the verdict's, or the peak
	CyclesPerSecond float64 `json:"cycles_per_second"` // of one replica
	Share           float64 `json:"busy_ratio"`        // of the time in which its Ps did anything, by its runtime's count
}

// memoryEvidence adds the memory and what the garbage collectors did.
func (of usageOf) memoryEvidence(e *Evidence, trials []*journal.Trial) {
	e.PeakRSSBytes = middle(trials, of.figure(func(u *journal.Usage) *float64 {
		if u.Memory == nil {
			return nil
		}
		return new(float64(u.Memory.PeakRSSBytes))
	}))
	e.RSSBytes = middle(trials, of.figure(func(u *journal.Usage) *float64 {
		if u.Memory == nil || u.Memory.RSSBytes == nil {
			return nil
		}
		return new(float64(*u.Memory.RSSBytes))
	}))
	gc := func(f func(*journal.GC) *float64) *float64 {
		return middle(trials, of.figure(func(u *journal.Usage) *float64 {
			if u.GC == nil || u.GC.SpanSeconds <= 0 {
				return nil
			}
			return f(u.GC)
		}))
	}
	e.GCCyclesPerSecond = gc(func(g *journal.GC) *float64 { return new(float64(g.Cycles) / g.SpanSeconds) })
	e.GCPauseSeconds = gc(func(g *journal.GC) *float64 {
		if g.Cycles <= 0 {
			return nil
		}
		return new(g.PauseSeconds / float64(g.Cycles))
	})
	e.GCHeapBytes = gc(func(g *journal.GC) *float64 {
		if g.HeapBytes <= 0 {
			return nil
		}
		return new(float64(g.HeapBytes))
	})
	e.GCBusyRatio = gc(func(g *journal.GC) *float64 {
		if g.CPUSeconds == nil || g.BusySeconds == nil || *g.BusySeconds <= 0 {
			return nil
		}
		return new(*g.CPUSeconds / *g.BusySeconds)
	})
}

// flat reports whether no value is beyond the margin of the best, of three at least.
func (g *group) flat(r *Group, w *outcome) bool {
	return len(w.contenders) >= 3 && w.best != nil && len(r.Flatness.WithinMargin) == len(g.measured())
}

// allocates reports whether that is a program whose collector is worth looking at first.
func (g *group) allocates(r *Group, w *outcome) *Allocates {
	if r.Recommendation.Verdict != NotYourKnob && (r.Recommendation.Verdict == CarriesRate || !g.flat(r, w)) {
		return nil
	}
	label := r.Recommendation.Setting
	if label == "" {
		label = r.Peak
	}
	for i := range r.Rows {
		e := &r.Rows[i].Evidence
		if row := &r.Rows[i]; row.Variant == "" && (row.Label == label || slices.Contains(row.PooledWith, label)) &&
			orZero(e.GCCyclesPerSecond) >= fewestCycles && orZero(e.GCBusyRatio) >= collectsMuch {
			return &Allocates{label, *e.GCCyclesPerSecond, *e.GCBusyRatio}
		}
	}
	return nil
}

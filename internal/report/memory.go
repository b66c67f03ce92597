package report

import (
	"fmt"

	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/stat"
)

// size is one of memory, which may be absent. It is rounded in its own unit, as powers of
// two leave no round number of bytes.
func size(bytes *float64) string {
	if bytes == nil {
		return absent
	}
	for _, s := range []step{{1 << 30, "GiB"}, {1 << 20, "MiB"}} {
		if *bytes >= s.factor {
			return significant(*bytes/s.factor, digits, true) + " " + s.suffix
		}
	}
	return significant(*bytes/(1<<10), digits, true) + " KiB"
}

// memoryColumns are the memory of the arms, and what their garbage collectors did.
func (g *group) memoryColumns() []column {
	share := percentage()
	return []column{
		{Column{Head: "Memory, at most"}, func(a *stat.ArmResult) Cell {
			c := Cell{Value: size(a.Evidence.PeakRSSBytes)}
			if now := a.Evidence.RSSBytes; now != nil {
				c.Detail = size(now) + " at the end"
			}
			return c
		}},
		{Column{Head: "GC, of its busy time"}, func(a *stat.ArmResult) Cell {
			e := &a.Evidence
			if e.GCCyclesPerSecond == nil {
				return Cell{Value: absent}
			}
			c := Cell{Value: share.maybe(e.GCBusyRatio), Detail: cycles(e)}
			if c.Value == absent { // of Go 1.19, or in a span without a whole cycle
				c.Value, c.Detail = c.Detail, ""
			}
			return c
		}},
	}
}

// cycles are how often a collector ran.
func cycles(e *stat.Evidence) string {
	if *e.GCCyclesPerSecond <= 0 {
		return "no cycle"
	}
	return "a cycle every " + phrase.Seconds(1 / *e.GCCyclesPerSecond)
}

// memoryFacts are those of the verdict's arm, or the peak, or any.
func (g *group) memoryFacts(add func(name, value string)) {
	a := g.seen()
	if a == nil {
		return
	}
	e, at := &a.Evidence, ", at "+armName(a)
	if e.PeakRSSBytes != nil {
		add("Memory", size(e.PeakRSSBytes)+" at most"+at)
	}
	if e.GCCyclesPerSecond == nil {
		return
	}
	text := cycles(e)
	if e.GCPauseSeconds != nil {
		text += ", each with " + phrase.Seconds(*e.GCPauseSeconds) + " of pauses"
	}
	if e.GCHeapBytes != nil {
		text += ", with " + size(e.GCHeapBytes) + " of heap in use at its end"
	}
	if e.GCBusyRatio != nil {
		text += ", " + percentage().number(*e.GCBusyRatio) + " of its busy time by its runtime's count"
	}
	add("Garbage collector", text+at)
}

// allocates is what a flat curve of a program that allocates much is likelier about;
// empty where it does not, or that is not known.
func (w words) allocates() string {
	a := w.group.Allocates
	if a == nil || a.CyclesPerSecond <= 0 {
		return ""
	}
	return fmt.Sprintf("it allocates: a GC cycle every %s took %s of its busy time (at %s)",
		phrase.Seconds(1/a.CyclesPerSecond), percentage().number(a.Share), phrase.Clip(phrase.Clean(a.Arm), nameRoom))
}

// instead is what to do where GOMAXPROCS is not the knob.
func (w words) instead() string {
	if why := w.allocates(); why != "" {
		return why + ", so profile its allocations first, and try GOGC or GOMEMLIMIT"
	}
	return "profile first"
}

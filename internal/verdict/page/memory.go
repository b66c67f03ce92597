package page

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
)

// memoryColumns are the memory of the settings, and what their garbage collectors did.
func (g *group) memoryColumns() []column {
	share := number.Ratio()
	return []column{
		{document.Column{Head: "Peak memory"}, func(a *verdict.SettingResult) document.Cell {
			c := document.Cell{Value: size(a.Evidence.PeakRSSBytes)}
			if now := a.Evidence.RSSBytes; now != nil {
				c.Detail = size(now) + " at the end"
			}
			return c
		}},
		{document.Column{Head: "GC share of CPU time"}, func(a *verdict.SettingResult) document.Cell {
			e := &a.Evidence
			if e.GCCyclesPerSecond == nil {
				return document.Cell{Value: absent}
			}
			c := document.Cell{Value: maybe(share, e.GCBusyRatio), Detail: cycles(e)}
			if c.Value == absent { // of Go 1.19, or in a span without a whole cycle
				c.Value, c.Detail = c.Detail, ""
			}
			return c
		}},
	}
}

// cycles are how often a collector ran.
func cycles(e *verdict.Evidence) string {
	if *e.GCCyclesPerSecond <= 0 {
		return "no cycle"
	}
	return "one cycle every " + number.Seconds(1 / *e.GCCyclesPerSecond)
}

// memoryFacts are those of the verdict's setting, or the peak, or any.
func (g *group) memoryFacts(add func(name, value string)) {
	a := g.seen()
	if a == nil {
		return
	}
	e, at := &a.Evidence, ", at "+settingName(a)
	if e.PeakRSSBytes != nil {
		add("Peak memory", size(e.PeakRSSBytes)+at)
	}
	if e.GCCyclesPerSecond == nil {
		return
	}
	text := cycles(e)
	if e.GCPauseSeconds != nil {
		text += " with " + number.Seconds(*e.GCPauseSeconds) + " of pauses"
	}
	if e.GCHeapBytes != nil {
		text += ", " + size(e.GCHeapBytes) + " of heap in use after it"
	}
	if e.GCBusyRatio != nil {
		text += ", " + number.Ratio().Number(*e.GCBusyRatio) + " of the CPU time that the program was busy"
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
	return fmt.Sprintf("it allocates a lot: a GC cycle every %s took %s of its busy CPU time (at %s)",
		number.Seconds(1/a.CyclesPerSecond), number.Ratio().Number(a.Share), phrase.Clip(phrase.Clean(a.Setting), nameRoom))
}

// instead is what to do where GOMAXPROCS is not the knob.
func (w words) instead() string {
	if why := w.allocates(); why != "" {
		return why + ", so profile its allocations first, and try GOGC or GOMEMLIMIT"
	}
	return "profile the program first"
}

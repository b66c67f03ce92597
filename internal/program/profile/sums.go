package profile

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Sums are a profile by function.
type Sums struct {
	Total   float64 // seconds of CPU time, or bytes
	Samples float64 // that all rests on
	Seconds float64 // that the profile covers, as it says; 0: it does not say
	// Collector and Scheduler are the parts of CPU time that all their functions, and
	// whatever these call, took.
	Collector, Scheduler Sum
	Functions            []Function // the largest first
	Left                 int        // functions that are not among them, since there are too many
}

// Sum is a part of a total, and how many samples it rests on.
type Sum struct{ Value, Samples float64 }

// Function is what a function took itself.
type Function struct {
	Name string
	Sum
}

// MostFunctions bounds how many functions are named; a large server has some hundreds.
const MostFunctions = 500

// mostName bounds the name of a function, in characters. Those of generic types are long.
const mostName = 300

// Sums sums the profile up.
func (p *Profile) Sums() Sums {
	s := Sums{Seconds: float64(p.raw.DurationNanos) / 1e9}
	of := map[string]*Function{}
	per := p.kind.column().per
	for _, one := range p.raw.Sample {
		add, by := Sum{Value: float64(one.Value[p.value]) / per, Samples: p.samples(one)}, caller(one)
		if !(add.Value > 0) || by == profiler {
			continue
		}
		s.Total += add.Value
		s.Samples += add.Samples
		name := leaf(one)
		if of[name] == nil {
			of[name] = &Function{Name: name}
		}
		of[name].add(add)
		switch {
		case p.kind != CPU:
		case by == collector:
			s.Collector.add(add)
		case by == scheduler:
			s.Scheduler.add(add)
		}
	}
	for _, f := range slices.Collect(maps.Values(of)) {
		s.Functions = append(s.Functions, *f)
	}
	sorting.Stable(s.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name))
	})
	if n := len(s.Functions); n > MostFunctions {
		s.Functions, s.Left = s.Functions[:MostFunctions], n-MostFunctions
	}
	return s
}

func (s *Sum) add(o Sum) { s.Value, s.Samples = s.Value+o.Value, s.Samples+o.Samples }

// usualRate is how many bytes the runtime lets pass between two samples of allocations,
// unless the program says otherwise (runtime.MemProfileRate).
const usualRate = 512 << 10

// samples is how many were taken for an entry. That of memory has only how many objects
// there were in all: small ones are sampled once in so many bytes, large ones each.
func (p *Profile) samples(one *profile.Sample) float64 {
	count, value := float64(one.Value[p.count]), float64(one.Value[p.value])
	if p.kind == CPU || count <= 0 {
		return max(0, count)
	}
	rate := float64(p.raw.Period)
	if rate <= 0 {
		rate = usualRate
	}
	return min(count, value/rate)
}

// unnamed is a function without a symbol.
const unnamed = "(no symbol)"

// leaf is the function that was running, or that allocated. Of functions that are compiled
// into another, the innermost comes first.
func leaf(s *profile.Sample) string {
	if len(s.Location) == 0 {
		return unnamed
	}
	l := s.Location[0]
	if len(l.Line) > 0 && l.Line[0].Function != nil && l.Line[0].Function.Name != "" {
		return phrase.Clip(phrase.Clean(l.Line[0].Function.Name), mostName)
	}
	if l.Mapping != nil && l.Mapping.File != "" {
		return phrase.Clip("("+phrase.Clean(path.Base(l.Mapping.File))+")", mostName)
	}
	return unnamed
}

// part is a part of the runtime that is many functions.
type part int

const (
	other part = iota
	collector
	scheduler
	profiler // what takes the profiles: it is no part of the program's own work
)

// roots are the functions below which all is of a part: of the collector its workers, what
// it lets allocating goroutines do, its sweeping and scavenging, and the start and the end
// of a cycle; of the scheduler the choice of the next goroutine (which includes looking for
// one, and waiting for the network), and waking threads up.
var roots = map[string]part{
	"runtime.gcBgMarkWorker": collector, "runtime.gcAssistAlloc": collector, "runtime.gcStart": collector, "runtime.gcMarkDone": collector,
	"runtime.gcMarkTermination": collector, "runtime.bgsweep": collector, "runtime.bgscavenge": collector, "runtime.deductSweepCredit": collector, "runtime.GC": collector,

	"runtime.schedule": scheduler, "runtime.findRunnable": scheduler, "runtime.findrunnable": scheduler, "runtime.mcall": scheduler,
	"runtime.ready": scheduler, "runtime.wakep": scheduler, "runtime.startm": scheduler, "runtime.stopm": scheduler, "runtime.sysmon": scheduler,
}

// profilers begin the names of the functions that take a profile and serve it.
var profilers = []string{"runtime/pprof.", "net/http/pprof."}

// caller is the part whose function is in a stack: that which takes profiles, whatever else
// is there, then the collector, then the scheduler.
func caller(s *profile.Sample) part {
	found := other
	for _, l := range s.Location {
		for _, line := range l.Line {
			if line.Function == nil {
				continue
			}
			name := line.Function.Name
			if slices.ContainsFunc(profilers, func(begin string) bool { return strings.HasPrefix(name, begin) }) {
				return profiler
			}
			name, _, _ = strings.Cut(name, ".func") // of a closure: that of its function
			if of := roots[name]; of == collector || of == scheduler && found == other {
				found = of
			}
		}
	}
	return found
}

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

// mostFunctions bounds how many functions are named; a large server has some hundreds.
const mostFunctions = 500

// mostName bounds the name of a function, in characters. Those of generic types are long.
const mostName = 300

// Sums sums the profile up.
func (p *Profile) Sums() Sums {
	s := Sums{Seconds: float64(p.raw.DurationNanos) / 1e9}
	of := map[string]*Function{}
	per, all := p.kind.column().per, p.frames()
	for _, one := range p.raw.Sample {
		name, by := all.of(one)
		add := Sum{Value: float64(one.Value[p.value]) / per, Samples: p.samples(one)}
		if !(add.Value > 0) || by == profiler {
			continue
		}
		s.Total += add.Value
		s.Samples += add.Samples
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
	if n := len(s.Functions); n > mostFunctions {
		s.Functions, s.Left = s.Functions[:mostFunctions], n-mostFunctions
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

// frame is what a location of a stack comes to.
type frame struct {
	name string // of the function that was running, or that allocated, if the location is the innermost
	by   part
}

// frames are those of a profile. Each is looked at once, however many stacks it is in.
type frames map[*profile.Location]frame

func (p *Profile) frames() frames {
	all := make(frames, len(p.raw.Location))
	for _, l := range p.raw.Location {
		f := frame{name: nameOf(l)}
		for _, line := range l.Line {
			if line.Function != nil {
				f.by = max(f.by, partOf(line.Function.Name))
			}
		}
		all[l] = f
	}
	return all
}

// of is the function that a stack ends in, and the part whose function is in it: that which
// takes profiles, whatever else is there, then the collector, then the scheduler.
func (all frames) of(s *profile.Sample) (name string, by part) {
	name = unnamed
	for i, l := range s.Location {
		f := all[l]
		if i == 0 {
			name = f.name
		}
		by = max(by, f.by)
	}
	return name, by
}

// nameOf is the function of a location. Of functions that are compiled into another, the
// innermost comes first.
func nameOf(l *profile.Location) string {
	if len(l.Line) > 0 && l.Line[0].Function != nil && l.Line[0].Function.Name != "" {
		return clipped(l.Line[0].Function.Name)
	}
	if l.Mapping != nil && l.Mapping.File != "" {
		file := l.Mapping.File
		return clipped("(" + path.Base(file[max(0, len(file)-4*mostName):]) + ")")
	}
	return unnamed
}

// clipped is a name that can be printed. What is surely too long is cut before it is looked
// at: a character has up to four bytes, and a name may be as long as a profile.
func clipped(name string) string {
	return phrase.Clip(phrase.Clean(name[:min(len(name), 4*mostName+4)]), mostName)
}

// part is a part of the runtime that is many functions. A stack with two of them is of the later.
type part int

const (
	other part = iota
	scheduler
	collector
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

// partOf is the part that all below a function is of.
func partOf(name string) part {
	if slices.ContainsFunc(profilers, func(begin string) bool { return strings.HasPrefix(name, begin) }) {
		return profiler
	}
	if !strings.HasPrefix(name, "runtime.") {
		return other
	}
	name, _, _ = strings.Cut(name[:min(len(name), mostName)], ".func") // of a closure: that of its function
	return roots[name]
}

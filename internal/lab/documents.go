package lab

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// described is what a document makes of an experiment: what to run and what its
// numbers say.
type described struct {
	stages func(Options) []Stage
	shapes []Shape
}

// Tolerances, from the documents alone and not to fit what was measured here.
const (
	// Document 000: "Single runs vary by 5–10% even on quiet hardware", and its
	// tables are single runs. So a ratio of theirs is met within 10 %.
	tenthLess, tenthMore = 0.90, 1.10
	// What the documents call flat spreads over 2 % (001, I/O-bound: 15.3 to 15.0 s;
	// 000, above the peak: 78.1 to 76.4). 5 % is flat.
	flatLess, flatMore = 0.95, 1.05
)

// documents joins what the documents say, by experiment.
func documents() map[string]described {
	all := map[string]described{}
	for _, of := range []func() map[string]described{document000, document001, document002, document003, document004, documentsTogether} {
		for id, d := range of() {
			d.stages = within(d.stages)
			all[id] = d
		}
	}
	return all
}

// within is the stages as the user wants them.
func within(stages func(Options) []Stage) func(Options) []Stage {
	return func(o Options) []Stage {
		o.CPUs = cmp.Or(o.CPUs, 1)
		list := stages(o)
		for i := range list {
			s := &list[i]
			s.Repeats = cmp.Or(o.Repeats, s.Repeats, 6)
			if s.Fixed {
				continue
			}
			s.Procs, s.Quotas = cmp.Or(o.Procs, s.Procs), cmp.Or(o.Quota, s.Quotas)
			if len(o.Go) > 0 && s.Program != "" {
				s.Go = o.Go
			}
		}
		return list
	}
}

// cpus is the CPUs here as a number of Ps.
func (o Options) cpus() int { return max(1, int(math.Ceil(o.CPUs))) }

// values lists values of GOMAXPROCS for Stage.Procs.
func values(procs ...int) string {
	slices.Sort(procs)
	var words []string
	for _, p := range slices.Compact(procs) {
		words = append(words, strconv.Itoa(p))
	}
	return strings.Join(words, ",")
}

// pick is the quick size or the full one.
func pick[T any](o Options, quick, full T) T {
	if o.Quick {
		return quick
	}
	return full
}

// args are a program's arguments from one line.
func args(format string, a ...any) []string { return strings.Fields(fmt.Sprintf(format, a...)) }

// beyond measures a figure at so many times the Ps as there are CPUs, against as
// many Ps as CPUs.
func beyond(times int, of Of) func(Results) Estimate {
	return func(r Results) Estimate {
		of.Procs = AtCPUs
		over := of
		if m := r[of.Stage]; m.Result != nil {
			over.Procs = times * of.procs(m)
		}
		return ratio(r, over, of)
	}
}

// speedup measures how many times as much all Ps do as one, for each of them: 1
// where it is as many times as there are CPUs.
func speedup(of Of) func(Results) Estimate {
	return func(r Results) Estimate {
		all, one := of, of
		all.Procs, one.Procs = AtCPUs, 1
		if of.Figure != Throughput && !strings.HasSuffix(string(of.Figure), "/s") { // a cost
			all, one = one, all
		}
		e := ratio(r, all, one)
		if m := r[of.Stage]; m.Result != nil {
			of.Procs = AtCPUs
			e = e.times(1 / float64(of.procs(m)))
		}
		return e
	}
}

// perCPU measures a figure as a share of the CPUs that a replica may use.
func perCPU(of Of) func(Results) Estimate {
	return func(r Results) Estimate {
		unit := 1.0
		if m := r[of.Stage]; m.Result != nil {
			unit = m.Result.Host.EffectiveCPUs
		}
		return Level(of, unit)(r)
	}
}

// times is the estimate in another unit.
func (e Estimate) times(x float64) Estimate {
	for _, p := range []**float64{&e.Value, &e.Low, &e.High} {
		if *p != nil {
			*p = new(**p * x)
		}
	}
	return e
}

// scaled is a measure in another unit.
func scaled(measure func(Results) Estimate, x float64) func(Results) Estimate {
	return func(r Results) Estimate { return measure(r).times(x) }
}

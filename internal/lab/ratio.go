package lab

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// fewest blocks have an interval: of fewer, ranks hold none of 95%.
const fewest = 6

// A measure takes a ratio from what was measured.
type measure func(Results) Estimate

// ratio measures a ÷ b, block by block. Blocks of two stages did not run side by
// side: what the machine does in between adds to their ratio.
func ratio(a, b quantity) measure {
	return func(r Results) Estimate {
		above, why := a.byBlock(r)
		if why != "" {
			return Estimate{Why: why}
		}
		below, why := b.byBlock(r)
		if why != "" {
			return Estimate{Why: why}
		}
		return estimate(verdict.Paired(above, below), "the two have no block in common")
	}
}

// estimate has an interval from six blocks on.
func estimate(i verdict.Interval, nothing string) Estimate {
	e := Estimate{Value: i.Median, Low: i.Low, High: i.High, N: i.N}
	switch {
	case e.Value == nil:
		e.Why = nothing
	case e.N < fewest:
		e.Low, e.High = nil, nil
		e.Why = fmt.Sprintf("%s: an interval needs %d", phrase.Count(e.N, "block"), fewest)
	}
	return e
}

// peak measures the figure of the setting, which should be the highest, ÷ that of
// the highest of the others; without any named, of all other numbered ones. The lower
// end of the interval holds for each of the others; the upper is that of the best one,
// chosen after the fact.
func peak(peak quantity, others ...int) measure {
	return func(r Results) Estimate {
		return extreme(r, peak, others, func(e, least Estimate) bool { return *e.Value < *least.Value }, func(all []Estimate, least Estimate) Estimate {
			for _, e := range all {
				if e.Low != nil && least.Low != nil {
					least.Low = new(math.Min(*e.Low, *least.Low))
				}
			}
			return least
		})
	}
}

// flat measures how far the figure strays from its value at the first setting: the
// ratio of the larger to the smaller, at the setting that strays most, 1 being flat.
// Without any others named it looks at all numbered ones. The upper end of the interval
// holds for every setting; the lower is that of the setting that strays most, chosen
// after the fact.
func flat(first quantity, others ...int) measure {
	return func(r Results) Estimate {
		return extreme(r, first, others, func(e, most Estimate) bool { return *stray(e).Value > *stray(most).Value }, func(all []Estimate, most Estimate) Estimate {
			most = stray(most)
			for _, e := range all {
				if s := stray(e); s.High != nil && most.High != nil {
					most.High = new(math.Max(*s.High, *most.High))
				}
			}
			return most
		})
	}
}

// extreme compares one setting with others of the same stage, quota and Go.
func extreme(r Results, at quantity, others []int, further func(e, than Estimate) bool, join func([]Estimate, Estimate) Estimate) Estimate {
	if _, why := at.trials(r); why != "" {
		return Estimate{Why: why}
	}
	m := r[at.Stage]
	if len(others) == 0 {
		others = at.numbered(m)
	}
	var all []Estimate
	best := -1
	for _, procs := range others {
		other := at
		if other.Procs = ps(strconv.Itoa(procs)); procs == at.procs(m) {
			continue
		}
		e := ratio(at, other)(r)
		if e.Value == nil {
			return e
		}
		if all = append(all, e); best < 0 || further(e, all[best]) {
			best = len(all) - 1
		}
	}
	if best < 0 {
		return Estimate{Why: "no other setting was run to compare with"}
	}
	e := join(all, all[best])
	for _, other := range all {
		if other.Low == nil { // a setting that lost blocks leaves the whole open
			e.Low, e.High, e.Why = nil, nil, other.Why
		}
	}
	return e
}

// stray turns a ratio into its distance from 1: 0.5 and 2 are both 2.
func stray(e Estimate) Estimate {
	s := e
	s.Value = new(math.Max(*e.Value, 1 / *e.Value))
	if e.Low == nil || e.High == nil {
		return s
	}
	a, b := *e.Low, *e.High
	s.High = new(math.Max(b, 1/a))
	s.Low = new(math.Max(1, math.Max(a, 1/b))) // 1 where the interval holds 1
	return s
}

// level measures a figure in a unit of its own: "GOMAXPROCS ÷ 2".
func level(q quantity, unit float64) measure {
	return func(r Results) Estimate {
		byBlock, why := q.byBlock(r)
		if why != "" {
			return Estimate{Why: why}
		}
		var values []float64
		for _, list := range byBlock {
			for _, x := range list {
				values = append(values, x/unit)
			}
		}
		return estimate(verdict.Median(values), "")
	}
}

// count measures a number that the programs print, in a unit of its own.
func count(q quantity, unit float64) measure {
	return func(r Results) Estimate {
		list, why := q.printed(r)
		if why != "" {
			return Estimate{Why: why}
		}
		e := verdict.Median(list)
		return Estimate{Value: e.Median, Low: new(slices.Min(list)), High: new(slices.Max(list)), N: len(list), Printed: true}.times(1 / unit)
	}
}

// countOver measures a number that the programs print, a ÷ b.
func countOver(a, b quantity) measure {
	return func(r Results) Estimate {
		above, below := count(a, 1)(r), count(b, 1)(r)
		switch {
		case above.Value == nil:
			return above
		case below.Value == nil:
			return below
		}
		return Estimate{
			Value: new(*above.Value / *below.Value), Low: new(*above.Low / *below.High), High: new(*above.High / *below.Low),
			N: min(above.N, below.N), Printed: true,
		}
	}
}

// ended measures the share of a setting's trials that ended within the stage's
// RunTimeout. Trials that are invalid for any other reason do not count. The interval
// is exact at any number.
func ended(q quantity) measure {
	return func(r Results) Estimate {
		trials, why := q.trials(r)
		if why != "" {
			return Estimate{Why: why}
		}
		n, ended := 0, 0
		for _, t := range trials {
			switch {
			case t.Valid:
				ended++
				n++
			case t.InvalidCode == journal.InvalidTimeout:
				n++
			default:
				why = q.setting(r[q.Stage]) + " has no trial that counts: " + phrase.FirstLine(t.InvalidReason)
			}
		}
		if n == 0 {
			return Estimate{Why: why}
		}
		share := verdict.Proportion(ended, n)
		return Estimate{Value: share.Median, Low: share.Low, High: share.High, N: n}
	}
}

// speedup measures how many times as much all Ps do as one, for each of them: 1
// where it is as many times as there are CPUs.
func speedup(all quantity) measure {
	return func(r Results) Estimate {
		m := all.over("1")
		if all.Figure != throughput && !strings.HasSuffix(string(all.Figure), "/s") { // a cost
			one := all
			one.Procs = "1"
			m = one.over(all.Procs)
		}
		e := m(r)
		if stage := r[all.Stage]; stage.Result != nil {
			e = e.times(1 / float64(all.procs(stage)))
		}
		return e
	}
}

// perCPU measures a figure as a share of the CPUs that a replica may use.
func perCPU(q quantity) measure {
	return func(r Results) Estimate {
		unit := 1.0
		if m := r[q.Stage]; m.Result != nil {
			unit = m.cpus()
		}
		return level(q, unit)(r)
	}
}

// scaled is a measure in another unit.
func scaled(of measure, x float64) measure {
	return func(r Results) Estimate { return of(r).times(x) }
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

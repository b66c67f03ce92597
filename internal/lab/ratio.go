package lab

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// A measure takes a ratio from what was measured.
type measure struct {
	of func(Results) Estimate
	// asks are the quantities that it is taken from, and others says that every other number of
	// Ps next to them is too.
	asks   []quantity
	others bool
}

// ratio measures a ÷ b, block by block. Blocks of two stages did not run side by
// side: what the machine does in between adds to their ratio, whichever are paired.
func ratio(a, b quantity) measure {
	return measure{asks: []quantity{a, b}, of: func(r Results) Estimate {
		above, why := a.byBlock(r)
		if why != "" {
			return Estimate{Why: why}
		}
		below, why := b.byBlock(r)
		if why != "" {
			return Estimate{Why: why}
		}
		if a.Stage != b.Stage {
			above, below = numbered(above), numbered(below)
		}
		return paired(above, below)
	}}
}

// numbered are values by block with the blocks counted from 0.
func numbered(byBlock map[int][]float64) map[int][]float64 {
	list := map[int][]float64{}
	for i, block := range slices.Sorted(maps.Keys(byBlock)) {
		list[i] = byBlock[block]
	}
	return list
}

// paired is the ratio of two figures by block. Of several values in a block it has the geometric
// mean.
func paired(above, below map[int][]float64) Estimate {
	s := sequence{values: stat.LogRatios(above, below)}
	mid, _, _ := stat.SignedRanks(s.values, 0.05)
	return s.estimate(stat.RatioOfLog(mid), "the two have no block in common")
}

// peak measures the figure of the setting, which should be the highest, ÷ that of
// the highest of all other numbered ones. The lower end of the interval holds for each of
// the others; the upper is that of the best one, chosen after the fact, and is for as many
// comparisons as there are.
func peak(peak quantity) measure {
	return measure{asks: []quantity{peak}, others: true, of: func(r Results) Estimate { return extreme(r, peak, false) }}
}

// flat measures how far the figure strays from its value at the first setting: the
// ratio of the larger to the smaller, at the numbered setting that strays most, 1 being flat.
// The upper end of the interval holds for every setting; the lower is that of the setting
// that strays most, chosen after the fact.
func flat(first quantity) measure {
	return measure{asks: []quantity{first}, others: true, of: func(r Results) Estimate { return extreme(r, first, true) }}
}

// extreme compares one setting with others of the same stage, quota and Go. Of distances it has the
// largest, else the smallest ratio.
func extreme(r Results, at quantity, distance bool) Estimate {
	if _, why := at.trials(r); why != "" {
		return Estimate{Why: why}
	}
	m := r[at.Stage]
	var all []Estimate
	for _, procs := range at.numbered(m) {
		other := at
		if other.Procs = ps(strconv.Itoa(procs)); procs == at.procs(m) {
			continue
		}
		e := ratio(at, other).of(r)
		if e.Value == nil {
			return e
		}
		if distance {
			e = e.stray()
		}
		all = append(all, e)
	}
	if len(all) == 0 {
		return Estimate{Why: "no other setting was run to compare with"}
	}
	return joined(all, distance)
}

// joined is the extreme of several estimates. The end that holds for all of them is theirs; the
// other is that of the extreme one, at the error of one of so many.
func joined(all []Estimate, largest bool) (e Estimate) {
	further := func(a, b float64) bool { return a > b == largest && a != b }
	for i, one := range all {
		if i == 0 || further(*one.Value, *e.Value) {
			e = one
		}
	}
	far, near := e.sequences[0].interval(2 * claimError / float64(len(all)))
	if largest {
		near, far = far, near
	}
	for i, one := range all {
		low, high := one.sequences[0].interval(2 * claimError)
		end := low
		if largest {
			end = high
		}
		if i == 0 || further(end, far) {
			far = end
		}
	}
	if e.Low, e.High = new(far), new(near); largest {
		e.Low, e.High = e.High, e.Low
	}
	e.sequences = nil
	for _, one := range all {
		e.sequences = append(e.sequences, one.sequences...)
		if one.Low == nil { // a setting that lost blocks leaves the whole open
			e.Low, e.High, e.Why = nil, nil, one.Why
		}
	}
	return e
}

// stray turns a ratio into its distance from 1: 0.5 and 2 are both 2.
func (e Estimate) stray() Estimate {
	s := e.sequences[0]
	s.distance = true
	e.Value = new(math.Max(*e.Value, 1 / *e.Value))
	return s.estimate(e.Value, "")
}

// level measures a figure in a unit of its own: "GOMAXPROCS ÷ 2".
func level(q quantity, unit float64) measure {
	return measure{asks: []quantity{q}, of: func(r Results) Estimate {
		byBlock, why := q.byBlock(r)
		if why != "" {
			return Estimate{Why: why}
		}
		s := sequence{plain: true}
		for _, block := range slices.Sorted(maps.Keys(byBlock)) {
			for _, x := range byBlock[block] {
				s.values = append(s.values, x/unit)
			}
		}
		return s.estimate(stat.Median(s.values).Median, "")
	}}
}

// count measures a number that the programs print, in a unit of its own.
func count(q quantity, unit float64) measure {
	return measure{asks: []quantity{q}, of: func(r Results) Estimate {
		list, why := q.printed(r)
		if why != "" {
			return Estimate{Why: why}
		}
		e := stat.Median(list)
		return Estimate{Value: e.Median, Low: new(slices.Min(list)), High: new(slices.Max(list)), N: len(list), Printed: true}.times(1 / unit)
	}}
}

// countOver measures a number that the programs print, a ÷ b.
func countOver(a, b quantity) measure {
	return measure{asks: []quantity{a, b}, of: func(r Results) Estimate {
		above, below := count(a, 1).of(r), count(b, 1).of(r)
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
	}}
}

// ended measures the share of a setting's trials that ended within the stage's
// RunTimeout. Trials that are invalid for any other reason do not count. The interval
// is exact at any number.
func ended(q quantity) measure {
	return measure{asks: []quantity{q}, of: func(r Results) Estimate {
		trials, why := q.trials(r)
		if why != "" {
			return Estimate{Why: why}
		}
		s, ended := sequence{plain: true}, 0
		for _, t := range trials {
			switch {
			case t.Valid:
				ended++
				s.values = append(s.values, 1)
			case t.InvalidCode == journal.InvalidTimeout:
				s.values = append(s.values, 0)
			default:
				why = q.setting(r[q.Stage]) + " has no trial that counts: " + phrase.FirstLine(t.InvalidReason)
			}
		}
		if len(s.values) == 0 {
			return Estimate{Why: why}
		}
		share := verdict.Proportion(ended, len(s.values))
		return Estimate{Value: share.Median, Low: share.Low, High: share.High, N: len(s.values), sequences: []sequence{s}}
	}}
}

// speedup measures how many times as much all Ps do as one, for each of them: 1
// where it is as many times as there are CPUs.
func speedup(all quantity) measure {
	m := all.over("1")
	if all.Figure != throughput && !strings.HasSuffix(string(all.Figure), "/s") { // a cost
		one := all
		one.Procs = "1"
		m = one.over(all.Procs)
	}
	return measure{asks: m.asks, of: func(r Results) Estimate {
		e := m.of(r)
		if stage := r[all.Stage]; stage.Result != nil {
			e = e.times(1 / float64(all.procs(stage)))
		}
		return e
	}}
}

// perCPU measures a figure as a share of the CPUs that a replica may use.
func perCPU(q quantity) measure {
	return measure{asks: []quantity{q}, of: func(r Results) Estimate {
		unit := 1.0
		if m := r[q.Stage]; m.Result != nil {
			unit = m.cpus()
		}
		return level(q, unit).of(r)
	}}
}

// then is a measure of which something else is made.
func (m measure) then(change func(Results, Estimate) Estimate) measure {
	of := m.of
	m.of = func(r Results) Estimate { return change(r, of(r)) }
	return m
}

func scaled(m measure, x float64) measure {
	return m.then(func(_ Results, e Estimate) Estimate { return e.times(x) })
}

func (e Estimate) times(x float64) Estimate {
	for _, p := range []**float64{&e.Value, &e.Low, &e.High} {
		if *p != nil {
			*p = new(**p * x)
		}
	}
	e.sequences = slices.Clone(e.sequences)
	for i := range e.sequences {
		e.sequences[i] = e.sequences[i].times(x)
	}
	return e
}

// settings are those of a stage that a measure is taken from, as they ran.
func (m measure) settings(r Results, stage string) (list []journal.Setting) {
	of := r[stage]
	has := func(key journal.SettingKey) bool {
		return slices.ContainsFunc(list, func(a journal.Setting) bool { return a.Key() == key })
	}
	for _, q := range m.asks {
		if q.Stage != stage || of.Result == nil {
			continue
		}
		key, known := q.key(of)
		for i := range of.Trials {
			a := of.Trials[i].Setting
			mine := known && a.Key() == key || m.others && a.Group() == key.Group && a.Procs != nil
			if mine && of.Trials[i].Role == journal.RoleMeasure && !has(a.Key()) {
				list = append(list, a)
			}
		}
	}
	return list
}

// stages are those that the measure is taken from, by Stage.ID.
func (m measure) stages() (ids []string) {
	for _, q := range m.asks {
		if !slices.Contains(ids, q.Stage) {
			ids = append(ids, q.Stage)
		}
	}
	return ids
}

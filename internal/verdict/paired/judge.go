package paired

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/eprocess"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// alpha is how likely it is that anything is claimed of values that do not differ, at all
// looks together. All values and their metrics share it. An end for harm has its own error.
const alpha = 0.05

// A value that is left for harm in leftTwice of its latest visits is out. Once may be
// chance, and in half an hour so may be twice: bursts of the traffic come to every value. So
// that it does harm is likely, and has no share of alpha: a proof would take more visits.
const (
	leftTwice = 2
	visits    = 3
)

// Judge says what the slices prove. It may be asked after every block.
func Judge(r Rules, list []Slice) Look {
	p := newProof(r)
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to].Block == list[from].Block {
			to++
		}
		p.add(list[from:to])
		from = to
	}
	return p.look()
}

// proof is what the blocks so far come to.
type proof struct {
	Rules
	values []value
	level  float64
	carry  carry
}

type value struct {
	figures []*figure
	blocks  int    // that it was in
	pairs   int    // blocks in which it and the control count
	left    []bool // in its latest visits
	out     bool
}

func newProof(r Rules) *proof {
	p := &proof{Rules: r, values: make([]value, r.values()), level: r.level(), carry: newCarry(r)}
	for i := range p.values {
		for _, m := range r.Metrics {
			p.values[i].figures = append(p.values[i].figures, &figure{Metric: m})
		}
	}
	return p
}

// Looks before the last planned block share the part early of the error, and that one has the
// part late. The rest is left for ends for harm, which have an error of their own: of canaries
// of equal pods at most 5 of 100 claim something or end for harm
// (docs/evidence/canary-simulations.md).
const (
	early = 0.05
	late  = 0.87
)

// level is the error of one claim in one direction, at all looks together. Of each value it
// may be claimed that a metric is less, or that it is more.
func (r Rules) level() float64 {
	claims := 0
	for _, m := range r.Metrics {
		switch m.Direction {
		case NoMore:
			claims++
		case Less:
			claims += 2
		}
	}
	return alpha / float64(max(1, r.values()*claims))
}

// at is the error of one claim at the next look at a value, and whether that is the last one.
func (p *proof) at(v *value) (level float64, last bool) {
	switch {
	case p.Blocks == 0:
		return p.level, false
	case v.blocks < p.Blocks:
		return early * p.level, false
	}
	return late * p.level, true
}

func (p *proof) add(block []Slice) {
	control := slices.IndexFunc(block, func(s Slice) bool { return s.Value == 0 && s.Counts() })
	for _, t := range p.carry.traits {
		t.add(block)
	}
	loaded := slices.ContainsFunc(block, func(s Slice) bool { return s.Value == 0 && s.Void == journal.InvalidLoaded })
	for i := range block {
		s := &block[i]
		if s.Value < 1 || s.Value > len(p.values) {
			continue
		}
		v := &p.values[s.Value-1]
		v.blocks++
		if s.Void != journal.InvalidLeft || !loaded { // a slice that carry-over made void was not left
			v.visited(s.Void == journal.InvalidLeft)
		}
		if s.Counts() && control >= 0 {
			v.pairs++
			for i, f := range v.figures {
				f.add(s.Figures[i], block[control].Figures[i])
			}
		}
	}
}

func (v *value) visited(left bool) {
	v.left = append(v.left, left)
	v.left = v.left[max(0, len(v.left)-visits):]
	n := 0
	for _, left := range v.left {
		if left {
			n++
		}
	}
	v.out = v.out || n >= leftTwice
}

func (p *proof) look() Look {
	l := Look{Carried: p.carry.proven()}
	for i := range p.values {
		l.Values = append(l.Values, p.judged(&p.values[i]))
	}
	return l
}

func (p *proof) judged(v *value) (j Judged) {
	level, last := p.at(v)
	for _, f := range v.figures {
		b := f.bounds(level, last)
		if f.Direction == Shown { // its interval is by itself
			b = f.bounds(alpha/2, last)
		}
		if 2*b.Pairs >= f.pairs && p.carry.hides(f.Name, math.Log(b.Ratio)) { // without a ratio the difference is as large as can be
			b.disclaim()
		}
		if f.Direction == Less && 2*f.pairs < v.pairs {
			b.lack()
		}
		j.Unequal = j.Unequal || f.Direction == Alike && f.beyond(level, last)
		j.Failing = j.Failing || f.Direction == NoMore && f.at.IsAbove(level)
		j.Bounds = append(j.Bounds, b)
	}
	j.Outcome = v.outcome(j)
	return j
}

// outcome is what the bounds come to. CPU time alone never makes a value better: fewer Ps
// are cheaper nearly always, and it is the wait that they may cost.
func (v *value) outcome(j Judged) Outcome {
	is := func(o verdict.Outcome) bool {
		return slices.ContainsFunc(j.Bounds, func(b Bounds) bool { return b.Outcome == o })
	}
	waits, same, different, cheaper := false, false, false, false
	for _, b := range j.Bounds {
		cheaper = cheaper || b.Name == FigureCPU && b.Outcome == verdict.OutcomeBetter
		judged := b.Outcome != verdict.OutcomeNotJudged
		waits = waits || judged && b.Name != FigureCPU
		same, different = same || b.Same, different || judged && !b.Same
	}
	better, worse := is(verdict.OutcomeBetter), is(verdict.OutcomeWorse)
	switch {
	case v.out:
		return Left
	case j.Failing:
		return Worse
	case j.Unequal:
		return Undecided
	case better && worse:
		return Mixed
	case worse:
		return Worse
	case better && waits && !is(verdict.OutcomeUndecided):
		return Better
	case cheaper:
		return Cheaper
	case same && !different:
		return Same
	}
	return Undecided
}

// figure is one metric of a value, with its differences to the control's, of the logarithms,
// block by block.
type figure struct {
	Metric
	// pairs have it in both slices, and d are the differences of those that have a logarithm:
	// none has where it is 0 or infinite. idle are the pairs in which both are.
	pairs, idle int
	d           []float64
	// The signs of the differences, of those to the margin, and of those to its like below:
	// that they are below the margin proves that the value is no worse. What is above 0 where
	// the other is 0, or infinite where the other is not, as beyond the buckets of a histogram,
	// differs by more than anything else.
	at, over, under eprocess.Signs
}

// add takes the two slices of one block, if both have the metric.
func (f *figure) add(is, was float64) {
	if !(is >= 0 && was >= 0) {
		return
	}
	is, was = is+f.Floor, was+f.Floor
	f.pairs++
	if is == was && (is == 0 || math.IsInf(is, 1)) {
		f.idle++
		f.at.Add(0)
		return
	}
	d := math.Log(is) - math.Log(was)
	f.at.Add(d)
	f.over.Add(d - math.Log1p(f.Margin))
	f.under.Add(d + math.Log1p(f.Margin))
	if !math.IsInf(d, 0) {
		f.d = append(f.d, d)
	}
}

// bounds are what the differences prove. At any time the signs decide, which hold whatever
// the traffic does; the sequence, which holds for normal differences, gives the interval. A
// claim needs both, so that no interval contradicts it. At the last look signed ranks do both.
func (f *figure) bounds(level float64, last bool) Bounds {
	mid, radius := race.Sequence(f.d, 2*level, race.SequenceTuned)
	low, high := mid-radius, mid+radius
	if last {
		mid, low, high = stat.SignedRanks(f.d, level)
	}
	b := Bounds{Metric: f.Metric, Pairs: len(f.d), Ratio: math.Exp(mid), Low: math.Exp(low), High: math.Exp(high)}
	within := b.High < 1+f.Margin && (last || f.over.IsBelow(level))
	b.Same = within && b.Low > 1/(1+f.Margin) && (last || f.under.IsAbove(level))
	switch {
	case f.Direction != Less:
		b.Outcome, b.Same = verdict.OutcomeNotJudged, false
	case 2*len(f.d) < f.pairs: // mostly 0 or infinite, and no ratio
		b.Outcome, b.Same = f.withoutRatio(level), false
	case within && b.High < 1 && (last || f.at.IsBelow(level)):
		b.Outcome = verdict.OutcomeBetter
	case within:
		b.Outcome = verdict.OutcomeWithin
	case b.Low > 1 && b.High >= 1+f.Margin && (last || f.at.IsAbove(level)):
		b.Outcome = verdict.OutcomeWorse
	default:
		b.Outcome = verdict.OutcomeUndecided
	}
	return b
}

// withoutRatio is what differences prove of which few have a ratio. What is 0 or infinite on both
// sides in most blocks is not compared.
func (f *figure) withoutRatio(level float64) verdict.Outcome {
	switch {
	case f.at.IsAbove(level):
		return verdict.OutcomeWorse
	case f.at.IsBelow(level):
		return verdict.OutcomeBetter
	case 2*f.idle >= f.pairs:
		return verdict.OutcomeNotJudged
	}
	return verdict.OutcomeUndecided
}

// lack is what it comes to where fewer than half of the blocks have it.
func (b *Bounds) lack() {
	b.Outcome, b.Same = verdict.OutcomeNotJudged, false
	if b.Asked || b.Name == FigureCPU {
		b.Outcome = verdict.OutcomeUndecided
	}
}

// disclaim takes back that the metric differs.
func (b *Bounds) disclaim() {
	switch b.Outcome {
	case verdict.OutcomeBetter:
		b.Outcome = verdict.OutcomeWithin
	case verdict.OutcomeWorse:
		b.Outcome = verdict.OutcomeUndecided
	}
}

// beyond reports that the metric differs by more than its margin, as is proven.
func (f *figure) beyond(level float64, last bool) bool {
	b := f.bounds(level, last)
	return b.Low > 1+f.Margin && (last || f.over.IsAbove(level)) || b.High < 1/(1+f.Margin) && (last || f.under.IsBelow(level))
}

package paired

import (
	"math"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/eprocess"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// figure is one metric of a value, with its differences to the control's, of the logarithms,
// block by block.
type figure struct {
	Metric
	// pairs have it in both slices, and d are the differences of those that have a logarithm:
	// none has where it is 0. idle are the pairs in which both are 0.
	pairs, idle int
	d           []float64
	// The signs of the differences, of those to the margin, and of those to its like below:
	// that they are below the margin proves that the value is no worse. What is above 0 where
	// the other is 0 differs by more than anything else.
	at, over, under eprocess.Signs
}

// add takes the two slices of one block, if both have the metric.
func (f *figure) add(is, was float64) {
	if !(is >= 0 && was >= 0) || math.IsInf(is, 1) || math.IsInf(was, 1) {
		return
	}
	is, was = is+f.Floor, was+f.Floor
	f.pairs++
	if is == 0 && was == 0 {
		f.idle++
		f.at.Add(0)
		return
	}
	d := math.Log(is) - math.Log(was)
	f.at.Add(d)
	if is == 0 || was == 0 {
		return
	}
	f.d = append(f.d, d)
	f.over.Add(d - math.Log1p(f.Margin))
	f.under.Add(d + math.Log1p(f.Margin))
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
	case 2*len(f.d) < f.pairs: // mostly 0, and no ratio
		b.Outcome, b.Same = f.mostlyZero(level), false
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

// mostlyZero is what differences prove of which few have a ratio. What is 0 on both sides in
// most blocks is not compared.
func (f *figure) mostlyZero(level float64) verdict.Outcome {
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

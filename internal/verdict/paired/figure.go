package paired

import (
	"math"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/eprocess"
)

// figure is one metric of a value, with its differences to the control's, of the logarithms,
// block by block.
type figure struct {
	Metric
	// pairs have it in both slices, and d are the differences of those that have a logarithm.
	// Where it is 0 in a slice there is none: its differences as they are have their signs
	// too. idle are the pairs in which both are 0.
	pairs, idle int
	d           []float64
	plain       eprocess.Signs
	// The signs of the differences, of those to the margin, and of those to its like below:
	// that they are below the margin proves that the value is no worse.
	at, over, under eprocess.Signs
}

// add takes the two slices of one block, if both have the metric.
func (f *figure) add(is, was float64) {
	d := math.Log(is) - math.Log(was)
	if f.Zero && is >= 0 && was >= 0 {
		f.pairs++
		f.plain.Add(is - was)
		if is == 0 && was == 0 {
			f.idle++
		}
	}
	if !isFinite(d) {
		return
	}
	if !f.Zero {
		f.pairs++
	}
	f.d = append(f.d, d)
	f.at.Add(d)
	f.over.Add(d - math.Log1p(f.Margin))
	f.under.Add(d + math.Log1p(f.Margin))
}

// bounds are what the differences prove. The signs decide, which hold whatever the traffic
// does; the sequence, which holds for normal differences, gives the interval. A claim needs
// both, so that no interval contradicts it.
func (f *figure) bounds(level float64) Bounds {
	mean, radius := race.Sequence(f.d, 2*level)
	b := Bounds{Metric: f.Metric, Pairs: len(f.d), Ratio: math.Exp(mean), Low: math.Exp(mean - radius), High: math.Exp(mean + radius)}
	within := b.High < 1+f.Margin && f.over.IsBelow(level)
	b.Same = within && b.Low > 1/(1+f.Margin) && f.under.IsAbove(level)
	switch {
	case f.Direction != Less:
		b.Outcome, b.Same = verdict.OutcomeNotJudged, false
	case 2*len(f.d) < f.pairs: // mostly 0, and no ratio
		b.Outcome, b.Same = f.mostlyZero(level), false
	case within && b.High < 1 && f.at.IsBelow(level):
		b.Outcome = verdict.OutcomeBetter
	case within:
		b.Outcome = verdict.OutcomeWithin
	case b.Low > 1 && b.High >= 1+f.Margin && f.at.IsAbove(level):
		b.Outcome = verdict.OutcomeWorse
	default:
		b.Outcome = verdict.OutcomeOpen
	}
	return b
}

// mostlyZero is what differences prove of which few have a ratio. What is 0 on both sides in
// most blocks is not compared.
func (f *figure) mostlyZero(level float64) verdict.Outcome {
	switch {
	case f.plain.IsAbove(level):
		return verdict.OutcomeWorse
	case f.plain.IsBelow(level):
		return verdict.OutcomeBetter
	case 2*f.idle >= f.pairs:
		return verdict.OutcomeNotJudged
	}
	return verdict.OutcomeOpen
}

// disclaim takes back that the metric differs.
func (b *Bounds) disclaim() {
	switch b.Outcome {
	case verdict.OutcomeBetter:
		b.Outcome = verdict.OutcomeWithin
	case verdict.OutcomeWorse:
		b.Outcome = verdict.OutcomeOpen
	}
}

// beyond reports that the metric differs by more than its margin, as is proven.
func (f *figure) beyond(level float64) bool {
	b := f.bounds(level)
	return b.Low > 1+f.Margin && f.over.IsAbove(level) || b.High < 1/(1+f.Margin) && f.under.IsBelow(level)
}

package live

import (
	"cmp"
	"math"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/eprocess"
)

// FewRequests in a slice have no percentile to speak of.
const FewRequests = 20

// unequal is how far the requests per second may differ.
const unequal = 0.05

// figure is one in which a value is compared, with its differences to the start value's, of
// the logarithms, block by block.
type figure struct {
	name    string
	margin  float64
	judged  bool
	lacking verdict.Outcome // where fewer than half of the pairs have it
	of      func(*Slice) float64
	// pairs have it in both slices, and d are the differences of those that have a logarithm.
	// Of a figure that is 0 in a slice, as errors may be, there is none: it is bare, and its
	// differences as they are have their signs too. idle are the pairs in which both are 0.
	pairs, idle int
	d           []float64
	bare        bool
	plain       eprocess.Signs
	// The signs of the differences, of those to the margin, and of those to its like below:
	// that they are below the margin proves that the value is no worse.
	at, over, under eprocess.Signs
}

// figures are those of one value, CPU first.
func (r Rules) figures() []*figure {
	list := []*figure{
		{name: FigureCPU, margin: cmp.Or(r.MarginCPU, 0.05), judged: true, of: func(s *Slice) float64 { return math.Log(s.CPU / float64(s.Requests)) }},
		{name: figureP50, margin: cmp.Or(r.MarginP50, 0.10), judged: r.Latency, lacking: verdict.OutcomeNotJudged, of: latency(func(s *Slice) float64 { return s.P50 })},
		{name: FigureP99, margin: r.margin(), judged: r.Latency, lacking: verdict.OutcomeNotJudged, of: latency(func(s *Slice) float64 { return s.P99 })},
	}
	for _, q := range r.Queries {
		list = append(list, &figure{name: q, bare: true, margin: r.margin(), judged: true, lacking: verdict.OutcomeOpen, of: func(s *Slice) float64 {
			if x, known := s.Queries[q]; known && x >= 0 {
				return math.Log(x)
			}
			return math.NaN()
		}})
	}
	return append(list, &figure{name: figureRequests, margin: unequal, of: func(s *Slice) float64 { return math.Log(float64(s.Requests) / s.Seconds) }})
}

// margin is that of a p99, and of queries.
func (r Rules) margin() float64 { return cmp.Or(r.MarginP99, 0.20) }

// latency is the logarithm of one that enough requests have.
func latency(of func(*Slice) float64) func(*Slice) float64 {
	return func(s *Slice) float64 {
		if s.Requests < FewRequests {
			return math.NaN()
		}
		return math.Log(of(s))
	}
}

// share is of the requests; NaN: there were none.
func share(n, of uint64) float64 { return float64(n) / float64(of) }

// add takes the two slices of one block, if both have the figure.
func (f *figure) add(is, was float64) {
	d := is - was
	if f.bare && !math.IsNaN(is) && !math.IsNaN(was) {
		f.pairs++
		f.plain.Add(math.Exp(is) - math.Exp(was))
		if math.IsInf(is, -1) && math.IsInf(was, -1) {
			f.idle++
		}
	}
	if !isFinite(d) {
		return
	}
	if !f.bare {
		f.pairs++
	}
	f.d = append(f.d, d)
	f.at.Add(d)
	f.over.Add(d - math.Log1p(f.margin))
	f.under.Add(d + math.Log1p(f.margin))
}

// bound is what the differences prove. The signs decide, which hold whatever the traffic
// does; the sequence, which holds for normal differences, gives the interval. A claim needs
// both, so that no interval contradicts it.
func (f *figure) bound(level float64) bound {
	mean, radius := race.Sequence(f.d, 2*level)
	b := bound{Figure: f.name, Pairs: len(f.d), Ratio: math.Exp(mean), Low: math.Exp(mean - radius), High: math.Exp(mean + radius), Margin: f.margin}
	within := b.High < 1+f.margin && f.over.IsBelow(level)
	b.Same = within && b.Low > 1/(1+f.margin) && f.under.IsAbove(level)
	switch {
	case !f.judged:
		b.Outcome, b.Same = verdict.OutcomeNotJudged, false
	case 2*len(f.d) < f.pairs: // mostly 0, and no ratio
		b.Outcome, b.Same = f.mostlyZero(level), false
	case within && b.High < 1 && f.at.IsBelow(level):
		b.Outcome = verdict.OutcomeBetter
	case within:
		b.Outcome = verdict.OutcomeWithin
	case b.Low > 1 && b.High >= 1+f.margin && f.at.IsAbove(level):
		b.Outcome = verdict.OutcomeWorse
	default:
		b.Outcome = verdict.OutcomeOpen
	}
	return b
}

// mostlyZero is what differences prove of which few have a ratio. What is 0 with either value
// in most blocks is not compared.
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

// disclaim takes back that the figure differs.
func (b *bound) disclaim() {
	switch b.Outcome {
	case verdict.OutcomeBetter:
		b.Outcome = verdict.OutcomeWithin
	case verdict.OutcomeWorse:
		b.Outcome = verdict.OutcomeOpen
	}
}

// beyond reports that the figure differs by more than its margin, as is proven.
func (f *figure) beyond(level float64) bool {
	b := f.bound(level)
	return b.Low > 1+f.margin && f.over.IsAbove(level) || b.High < 1/(1+f.margin) && f.under.IsBelow(level)
}

package lab

import (
	"fmt"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/eprocess"
)

const (
	// claimError is how often an answer may be wrong on either side of an interval, whenever one
	// looks: both sides make the 5% that intervals have.
	claimError = 0.025
	// tuned has the interval of six blocks, with which a run begins, half as wide as a gate's, and
	// that of sixty 6% wider.
	tuned = 0.5
	// fewest numbers have an interval at that error.
	fewest = 6
	// mostBlocks is for how many blocks it is forecast what more of them would decide. At as many a
	// bound can be told from a ratio that is a fifth of the scatter away from it.
	mostBlocks = 200
)

// A sequence is what blocks say, one after the other: logarithms of ratios, or plain numbers.
// Blocks may be added until it decides something, so that its claims hold whenever one looks
// (package eprocess, race.Sequence). As in a live experiment the signs of the differences must
// prove a claim, which assumes nothing of their distribution, and the interval, which is that of
// normal differences, must agree.
type sequence struct {
	values   []float64
	plain    bool
	distance bool // the ratio's distance from 1 counts: 0.5 is 2
}

func (s sequence) scale(x float64) float64 {
	if s.plain {
		return x
	}
	return math.Log(x)
}

// interval holds whenever one looks, but for that error of both sides.
func (s sequence) interval(alpha float64) (low, high float64) {
	mean, radius := race.Sequence(s.values, alpha, tuned)
	low, high = mean-radius, mean+radius
	if !s.plain {
		low, high = math.Exp(low), math.Exp(high)
	}
	if s.distance { // 1 where the interval holds 1
		low, high = math.Max(1, math.Max(low, 1/high)), math.Max(high, 1/low)
	}
	return low, high
}

// estimate has an interval from six numbers on. Value is their middle; nil: there are none.
func (s sequence) estimate(value *float64, nothing string) Estimate {
	e := Estimate{Value: value, N: len(s.values), sequences: []sequence{s}}
	switch {
	case value == nil:
		e.Why = nothing
	case e.N < fewest:
		e.Why = fmt.Sprintf("%s: an interval needs %d", phrase.Count(e.N, "block"), fewest)
	default:
		low, high := s.interval(2 * claimError)
		e.Low, e.High = &low, &high
	}
	return e
}

func (s sequence) times(x float64) sequence {
	s.values = slices.Clone(s.values)
	for i := range s.values {
		if s.plain {
			s.values[i] *= x
		} else {
			s.values[i] += math.Log(x)
		}
	}
	return s
}

// signs are those of the differences from a bound.
func (s sequence) signs(bound float64) *eprocess.Signs {
	e := eprocess.Signs{BySize: true}
	for _, x := range s.values {
		e.Add(x - s.scale(bound))
	}
	return &e
}

// bounds are a hypothesis's for the sequence; 0 is an open end.
func (s sequence) bounds(h *Hypothesis) (least, most float64) {
	if s.distance && h.AtMost > 0 {
		return 1 / h.AtMost, h.AtMost
	}
	return h.AtLeast, h.AtMost
}

// within reports whether the signs prove that the sequence lies within a hypothesis's bounds.
func (s sequence) within(h *Hypothesis) bool {
	least, most := s.bounds(h)
	return (least == 0 || s.signs(least).IsAbove(claimError)) && (most == 0 || s.signs(most).IsBelow(claimError))
}

// outside reports whether they prove that it lies outside, as one of so many comparisons.
func (s sequence) outside(h *Hypothesis, comparisons int) bool {
	least, most := s.bounds(h)
	alpha := claimError / float64(comparisons)
	return least != 0 && s.signs(least).IsBelow(alpha) || most != 0 && s.signs(most).IsAbove(alpha)
}

// longer is the sequence as if it continued as it was until now, up to that many numbers.
func (s sequence) longer(n int) sequence {
	had := len(s.values)
	s.values = slices.Clone(s.values)
	for i := had; i < n && had > 0; i++ {
		s.values = append(s.values, s.values[i%had])
	}
	return s
}

// within reports whether an estimate with an interval lies within a hypothesis's bounds.
func (e Estimate) within(h *Hypothesis) bool {
	return *e.Low >= h.AtLeast && (h.AtMost == 0 || *e.High <= h.AtMost) &&
		!slices.ContainsFunc(e.sequences, func(s sequence) bool { return !s.within(h) })
}

// bound is the bound of a hypothesis that an estimate's interval holds and does not leave by more than
// what the documents call flat; 0: there is none. Without it a ratio that is the bound would take
// blocks without end, and in the end chance would say on which side it is.
func (e Estimate) bound(h *Hypothesis) float64 {
	for _, bound := range []float64{h.AtLeast, h.AtMost} {
		held := bound > 0 && *e.Low <= bound && bound <= *e.High && len(e.sequences) > 0 && !e.sequences[0].distance
		if held && e.within(&Hypothesis{AtLeast: bound * flatLess, AtMost: bound * flatMore}) {
			return bound
		}
	}
	return 0
}

// answer is what an estimate with an interval says of a hypothesis.
func (e Estimate) answer(h *Hypothesis) Answer {
	outside := *e.High < h.AtLeast || h.AtMost != 0 && *e.Low > h.AtMost
	if len(e.sequences) > 0 {
		outside = outside && slices.ContainsFunc(e.sequences, func(s sequence) bool { return s.outside(h, len(e.sequences)) })
	}
	switch {
	case e.within(h):
		return Holds
	case outside:
		return DoesNotHold
	case e.bound(h) > 0:
		return AtBound
	}
	return Undecided
}

// longer is the estimate as if its blocks continued as they were, up to that many.
func (e Estimate) longer(n int) Estimate {
	var all []Estimate
	for _, s := range e.sequences {
		s = s.longer(n)
		all = append(all, s.estimate(new(s.middle()), ""))
	}
	if len(all) == 1 {
		return all[0]
	}
	return joined(all, e.sequences[0].distance)
}

// middle is the mean, as the scale of the sequence has it.
func (s sequence) middle() float64 {
	mean, _ := race.Sequence(s.values, claimError, tuned)
	if !s.plain {
		mean = math.Exp(mean)
	}
	if s.distance {
		mean = math.Max(mean, 1/mean)
	}
	return mean
}

// needs is how many blocks more decide a hypothesis, if they are as those until now; 0: not as many
// as are ever measured.
func (e Estimate) needs(h *Hypothesis) int {
	if len(e.sequences) == 0 || len(e.sequences[0].values) == 0 {
		return 0
	}
	shortest := len(e.sequences[0].values)
	for _, s := range e.sequences {
		shortest = min(shortest, len(s.values))
	}
	for more := 1; shortest+more <= mostBlocks; more += max(1, more/4) {
		if n := shortest + more; n >= fewest && e.longer(n).answer(h) != Undecided {
			return more
		}
	}
	return 0
}

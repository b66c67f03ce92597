package paired

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// falseAlarms is how many experiments with equal values may end for a guarded metric.
const falseAlarms = 0.01

// Harm is a guarded metric of a value that is proven above the control's, and by more than its
// margin. It may be asked after every block: chance alone ends one experiment in 100 at most,
// whatever the number of its values and guarded metrics.
func (r Rules) Harm(list []Slice) *journal.Harm {
	guarded := 0
	for _, m := range r.Metrics {
		if m.Guarded {
			guarded++
		}
	}
	for value := 1; value <= r.values(); value++ {
		for i, m := range r.Metrics {
			if !m.Guarded {
				continue
			}
			is, was := pairsOf(list, value, i)
			if ratio, proven := above(is, was, m.Margin, falseAlarms/float64(guarded*r.values())); proven {
				return &journal.Harm{Code: journal.HarmQuery, Setting: r.Settings[value].Label, Query: m.Name, Slices: len(is), Ratio: ratio}
			}
		}
	}
	return nil
}

// pairsOf are a metric of a value and of the control, in the blocks that have both.
func pairsOf(list []Slice, value, metric int) (is, was []float64) {
	var pair [2]*Slice // of one block: the control and the value
	for i := range list {
		s := &list[i]
		if i > 0 && s.Block != list[i-1].Block {
			pair = [2]*Slice{}
		}
		if !s.Counts() || s.Value != 0 && s.Value != value || math.IsNaN(s.Figures[metric]) {
			continue
		}
		if pair[min(1, s.Value)] = s; pair[0] != nil && pair[1] != nil {
			is, was = append(is, pair[1].Figures[metric]), append(was, pair[0].Figures[metric])
		}
	}
	return is, was
}

// evidence says how much likelier differences are if their mean is above 0 than if it
// is 0. Of differences whose mean is 0, with probability 1-alpha it never reaches 1/alpha,
// however often they are looked at: it is the confidence sequence of a gate, for one side
// and turned around.
//
// This holds for normal differences, and a simulation shows it where each has a variance
// of its own. No test that holds for any symmetric differences can reach 1% within six:
// all six have the same sign in 1 of 64 cases.
func evidence(d []float64) float64 {
	n := float64(len(d))
	if n < 2 {
		return 1
	}
	mean, variance := stat.Mean(d), stat.PopulationVariance(d)
	if mean <= 0 {
		return 0
	}
	k := harmTuned / (n + harmTuned)
	return 2 * math.Sqrt(k) * math.Pow((variance+mean*mean)/(variance+mean*mean*k), n/2)
}

// harmTuned is the variance of the mixture, as for a gate: a small one finds large effects in few
// differences, and this one finds harm in four to eight pairs.
const harmTuned = 0.25

// above reports whether values are proven above those that they are paired with, with an
// error of alpha over all looks, and by more than the margin. ratio is how far; nil where the
// others were 0. Values are compared by their logarithms. Where one is 0, as errors may be,
// they are compared by their square roots.
func above(is, was []float64, margin, alpha float64) (ratio *float64, proven bool) {
	d := make([]float64, len(is))
	if slices.ContainsFunc(slices.Concat(is, was), func(x float64) bool { return x <= 0 }) {
		for i := range is {
			d[i] = math.Sqrt(max(0, is[i])) - math.Sqrt(max(0, was[i]))
		}
		if sum := stat.Sum(is) / stat.Sum(was); stat.Sum(was) > 0 && !math.IsInf(sum, 0) {
			ratio = &sum
		}
	} else {
		for i := range is {
			d[i] = math.Log(is[i] / was[i])
		}
		if mean := math.Exp(stat.Mean(d)); !math.IsInf(mean, 0) {
			ratio = &mean
		}
	}
	return ratio, (ratio == nil || *ratio > 1+margin) && evidence(d) >= 1/alpha
}

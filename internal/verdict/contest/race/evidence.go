package race

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Evidence says how much likelier differences are if their mean is above 0 than if it
// is 0. Of differences whose mean is 0, with probability 1-alpha it never reaches 1/alpha,
// however often they are looked at: it is the confidence sequence of a gate, for one side
// and turned around. tuned is the variance of its mixture, as for a gate: a small one
// finds large effects in few differences.
//
// This holds for normal differences, and a simulation shows it where each has a variance
// of its own. No test that holds for any symmetric differences can reach 1% within six:
// all six have the same sign in 1 of 64 cases.
func Evidence(d []float64, tuned float64) float64 {
	n := float64(len(d))
	if n < 2 {
		return 1
	}
	mean, variance := stat.PopMeanVariance(d, nil)
	if mean <= 0 {
		return 0
	}
	k := tuned / (n + tuned)
	return 2 * math.Sqrt(k) * math.Pow((variance+mean*mean)/(variance+mean*mean*k), n/2)
}

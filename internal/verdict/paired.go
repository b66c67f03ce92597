package verdict

import (
	"math"

	gonum "gonum.org/v1/gonum/stat"
)

// Paired is the ratio of a to b, each given by block, with its two-sided 95 %
// interval (from three blocks on). Blocks that one side lacks do not count. Of
// several values in a block the geometric mean is taken, and what has no
// logarithm is left out.
func Paired(a, b map[int][]float64) Interval { return locate(logRatios(a, b)).ratio() }

// PairedAmong is Paired with an interval that holds in 95 % of runs for all of so many
// comparisons together (Bonferroni).
func PairedAmong(a, b map[int][]float64, comparisons int) Interval {
	d := logRatios(a, b)
	e := locate(d)
	if comparisons > 1 && e.n > 0 {
		e.low, e.high = boundsAt(d, 0.025/float64(comparisons))
	}
	return e.ratio()
}

func logRatios(a, b map[int][]float64) (d []float64) {
	for block := range a {
		if x := logMean(a[block]) - logMean(b[block]); !math.IsNaN(x) {
			d = append(d, x)
		}
	}
	return d
}

// logMean is NaN where there is nothing to take the mean of.
func logMean(values []float64) float64 {
	var logs []float64
	for _, x := range values {
		if x > 0 && !math.IsInf(x, 1) {
			logs = append(logs, math.Log(x))
		}
	}
	return gonum.Mean(logs, nil)
}

// Median is the values' median with its distribution-free 95 % interval (from
// six values on).
func Median(values []float64) Interval { return medianOf(values) }

// Package stat has the sums of samples and the distributions that verdicts are made of.
// The special functions behind the distributions are gonum's; the rest of gonum, with its
// linear algebra, would be 20 packages.
package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Sum of values.
func Sum(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

// Mean is NaN of no values.
func Mean(x []float64) float64 { return Sum(x) / float64(len(x)) }

// PopulationVariance is the mean square of the distances from the mean.
func PopulationVariance(x []float64) float64 { return squares(x) / float64(len(x)) }

// Variance is the estimate of it from a sample; NaN of fewer than two values.
func Variance(x []float64) float64 { return squares(x) / float64(len(x)-1) }

// squares are those of the distances from the mean, less what rounding the mean adds
// (Chan, Golub and LeVeque, Algorithms for computing the sample variance, 1983, 1.7).
func squares(x []float64) float64 {
	mean := Mean(x)
	sum, off := 0.0, 0.0
	for _, v := range x {
		d := v - mean
		sum += d * d
		off += d
	}
	return sum - off*off/float64(len(x))
}

// Line is the least squares line y = at + slope·x.
func Line(x, y []float64) (at, slope float64) {
	mx, my := Mean(x), Mean(y)
	cross := 0.0
	for i := range x {
		cross += (x[i] - mx) * (y[i] - my)
	}
	slope = cross / squares(x)
	return my - slope*mx, slope
}

// TQuantile is Student's t's for df degrees of freedom, which need not be whole.
func TQuantile(p, df float64) float64 {
	switch {
	case p == 0.5:
		return 0
	case p > 0.5:
		return -TQuantile(1-p, df)
	}
	t := mathext.InvRegIncBeta(df/2, 0.5, 2*p)
	return -math.Sqrt(df * (1 - t) / t)
}

// BetaQuantile is that of the beta distribution.
func BetaQuantile(p, a, b float64) float64 { return mathext.InvRegIncBeta(a, b, p) }

// HalfBinomial is the probability of at most k heads in n throws of a fair coin.
func HalfBinomial(k, n int) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 0.5)
}

// NormalCDF is the probability of a standard normal value of at most x.
func NormalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// NormalQuantile inverts NormalCDF.
func NormalQuantile(p float64) float64 { return mathext.NormalQuantile(p) }

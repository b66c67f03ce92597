package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Values from tables (NIST/SEMATECH, Handbook of Statistical Methods, 1.3.6.7) and from
// gonum.org/v1/gonum/stat/distuv v0.17.0.
func TestQuantiles(t *testing.T) {
	for _, tt := range []struct {
		what      string
		got, want float64
	}{
		{"t, 1 df", TQuantile(0.975, 1), 12.706204736174705},
		{"t, 4 df", TQuantile(0.975, 4), 2.7764451051977934},
		{"t, 4 df, below", TQuantile(0.025, 4), -2.7764451051977934},
		{"t, 10 df", TQuantile(0.99, 10), 2.763769458112696},
		{"t, the middle", TQuantile(0.5, 3), 0},
		{"normal", NormalQuantile(0.975), 1.959963984540054},
		{"normal CDF", NormalCDF(1.959963984540054), 0.975},
		{"beta", BetaQuantile(0.025, 1, 10), 1 - math.Pow(0.975, 0.1)},
		{"no heads of 10", HalfBinomial(0, 10), 1.0 / 1024},
		{"5 heads of 10", HalfBinomial(5, 10), 638.0 / 1024},
		{"none of none", HalfBinomial(0, 0), 1},
		{"fewer than none", HalfBinomial(-1, 10), 0},
	} {
		if math.Abs(tt.got-tt.want) > 1e-9*max(1, math.Abs(tt.want)) {
			t.Errorf("%s: %.15g, want %.15g", tt.what, tt.got, tt.want)
		}
	}
}

// Far from zero, the sums keep their digits.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, far := range []float64{0, 1e3, 1e6} {
		var x, y []float64
		for range 50 {
			x = append(x, far+r.NormFloat64())
			y = append(y, 3-2*x[len(x)-1])
		}
		mean, square := 0.0, 0.0
		for _, v := range x {
			mean += (v - far) / 50
		}
		for _, v := range x {
			square += (v - far - mean) * (v - far - mean)
		}
		if got := Mean(x); math.Abs(got-far-mean) > 1e-15*max(1, 50*far) {
			t.Errorf("mean %v, want %v + %v", got, far, mean)
		}
		if got := Variance(x); math.Abs(got-square/49) > 1e-9 {
			t.Errorf("variance %v, want %v", got, square/49)
		}
		if got := PopulationVariance(x); math.Abs(got-square/50) > 1e-9 {
			t.Errorf("variance of a population %v, want %v", got, square/50)
		}
		if at, slope := Line(x, y); math.Abs(slope+2) > 1e-7 || math.Abs(at-3) > 1e-7*max(1, far) {
			t.Errorf("line %v + %v x, want 3 - 2 x", at, slope)
		}
	}
	if !math.IsNaN(Mean(nil)) || !math.IsNaN(Variance([]float64{1})) {
		t.Error("what is unknown is a number")
	}
}

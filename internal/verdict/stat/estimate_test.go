package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The bounds are those of printed tables (Conover, tables A3 and A12).
func TestMedianOf(t *testing.T) {
	for _, c := range []struct {
		n         int
		low, high float64 // 0: none
	}{{1, 0, 0}, {5, 0, 0}, {6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {10, 2, 9}, {15, 4, 12}, {20, 6, 15}, {25, 8, 18}} {
		var x []float64
		for i := range c.n {
			x = append(x, float64(c.n-i))
		}
		got := Median(x)
		if want := float64(c.n+1) / 2; *got.Median != want || got.N != c.n {
			t.Errorf("n=%d: median %v of %d, want %v", c.n, *got.Median, got.N, want)
		}
		switch {
		case c.low == 0 && (got.Low != nil || got.High != nil):
			t.Errorf("n=%d: an interval, though so few cannot reach 95%%", c.n)
		case c.low != 0 && (got.Low == nil || *got.Low != c.low || *got.High != c.high):
			t.Errorf("n=%d: interval %v, want [%v, %v]", c.n, got, c.low, c.high)
		}
	}
}

func TestSignedRank(t *testing.T) {
	for _, c := range []struct{ n, one, two int }{{6, 2, 0}, {7, 3, 2}, {8, 5, 3}, {10, 10, 8}, {15, 30, 25}, {20, 60, 52}, {30, 151, 137}, {40, 286, 264}, {50, 466, 434}} {
		if one, two := signedRank(c.n, 0.05), signedRank(c.n, 0.025); abs(one-c.one) > approx(c.n) || abs(two-c.two) > approx(c.n) {
			t.Errorf("n=%d: %d and %d, want %d and %d", c.n, one, two, c.one, c.two)
		}
	}
}

func abs(x int) int { return max(x, -x) }

// approx is the error allowed: one rank where the normal approximation is used.
func approx(n int) int {
	if n > exactSigned {
		return 1
	}
	return 0
}

// Turning the signs must turn the bounds, and those of a larger error are within those of a
// smaller one.
func TestSignedRanksAreSymmetric(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := 3; n <= 40; n++ {
		d, neg := make([]float64, n), make([]float64, n)
		for i := range d {
			d[i] = r.NormFloat64()
			neg[i] = -d[i]
		}
		mid, lower, upper := SignedRanks(d, 0.05)
		otherMid, otherLower, _ := SignedRanks(neg, 0.05)
		if math.Abs(mid+otherMid) > 1e-12 || math.Abs(upper+otherLower) > 1e-12 {
			t.Errorf("n=%d: %v and %v, %v and %v", n, mid, otherMid, upper, otherLower)
		}
		_, low, high := SignedRanks(d, 0.025)
		if bounds := []float64{low, lower, mid, upper, high}; !slices.IsSorted(bounds) {
			t.Errorf("n=%d: bounds out of order: %v", n, bounds)
		}
	}
}

// Bounds of 2.5% on either side must hold the truth in 95% of cases, and one of 5% misses it
// in 5%, whichever of the two methods is used. 4,000 runs have a standard error of 0.3%.
func TestSignedRanksCover(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{3, 5, 6, 10, 35} {
		const runs = 4000
		held, missed := 0, 0
		for range runs {
			d := make([]float64, n)
			for i := range d {
				d[i] = 0.3 + 0.05*(r.NormFloat64()-r.NormFloat64())
			}
			if _, low, high := SignedRanks(d, 0.025); low <= 0.3 && 0.3 <= high {
				held++
			}
			if _, lower, _ := SignedRanks(d, 0.05); lower > 0.3 {
				missed++
			}
		}
		if p := float64(held) / runs; p < 0.937 || p > 0.98 {
			t.Errorf("n=%d: the 95%% interval holds the truth in %.3f", n, p)
		}
		if p := float64(missed) / runs; p > 0.062 || p < 0.02 {
			t.Errorf("n=%d: the 5%% bound misses the truth in %.3f", n, p)
		}
	}
}

// Nor does a bound miss more often with copies of one side, whether the other one scatters as much, more or less.
func TestCopiesCover(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{3, 5} {
		for _, other := range []float64{0.3, 1, 2, 3} {
			const runs = 4000
			missed := 0
			for range runs {
				d, copies := make([]float64, n), make([]float64, n)
				for i := range d {
					one := r.NormFloat64()
					d[i], copies[i] = 0.3+0.05*(one-other*r.NormFloat64()), 0.05*(r.NormFloat64()-one)
				}
				if _, upper := Student(d, 0.05, copies...); upper < 0.3 {
					missed++
				}
			}
			if p := float64(missed) / runs; p > 0.06 {
				t.Errorf("n=%d, the other scatters %g times as much: the 5%% bound misses the truth in %.3f", n, other, p)
			}
		}
	}
}

func TestFewDifferencesProveNothing(t *testing.T) {
	for _, d := range [][]float64{nil, {0.1}, {0.1, 0.1001}} {
		if _, lower, upper := SignedRanks(d, 0.05); lower > -1e9 || upper < 1e9 {
			t.Errorf("%d differences have bounds: %v and %v", len(d), lower, upper)
		}
	}
}

// The same trials give the same bytes: no sum is in the order of a map.
func TestPairedIsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a, b := map[int][]float64{}, map[int][]float64{}
	for block := range 40 {
		a[block], b[block] = []float64{r.ExpFloat64()}, []float64{r.ExpFloat64()}
	}
	first := LogRatios(a, b)
	for range 20 {
		if !slices.Equal(LogRatios(a, b), first) {
			t.Fatal("the ratios of one pair of runs are in another order")
		}
	}
}

func TestPaired(t *testing.T) {
	three := func(x float64) map[int][]float64 { return map[int][]float64{0: {x}, 1: {2 * x}, 2: {3 * x}} }
	for name, tc := range map[string]struct {
		a, b  map[int][]float64
		ratio float64 // 0: none
	}{
		"nothing":               {nil, nil, 0},
		"blocks that differ":    {map[int][]float64{0: {1}}, map[int][]float64{1: {1}}, 0},
		"one block":             {map[int][]float64{4: {3}}, map[int][]float64{4: {2}}, 1.5},
		"three, with a drift":   {three(2), three(1), 2},
		"two values of a block": {map[int][]float64{0: {1, 4}}, map[int][]float64{0: {1}}, 2},
		"what has no logarithm": {map[int][]float64{0: {0, -1, math.NaN(), math.Inf(1), 3}}, map[int][]float64{0: {1}}, 3},
		"only such":             {map[int][]float64{0: {0}}, map[int][]float64{0: {1}}, 0},
	} {
		mid, _, _ := SignedRanks(LogRatios(tc.a, tc.b), 0.05)
		got := RatioOfLog(mid)
		if (got == nil) != (tc.ratio == 0) {
			t.Errorf("%s: %v", name, got)
		}
		if got != nil && math.Abs(*got-tc.ratio) > 1e-9 {
			t.Errorf("%s: ratio %g, want %g", name, *got, tc.ratio)
		}
	}
}

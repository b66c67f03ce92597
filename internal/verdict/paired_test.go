package verdict_test

import (
	"math"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
)

func TestPaired(t *testing.T) {
	three := func(x float64) map[int][]float64 { return map[int][]float64{0: {x}, 1: {2 * x}, 2: {3 * x}} }
	for name, tc := range map[string]struct {
		a, b      map[int][]float64
		ratio     float64 // 0: none
		n         int
		intervals bool
	}{
		"nothing":               {nil, nil, 0, 0, false},
		"blocks that differ":    {map[int][]float64{0: {1}}, map[int][]float64{1: {1}}, 0, 0, false},
		"one block":             {map[int][]float64{4: {3}}, map[int][]float64{4: {2}}, 1.5, 1, false},
		"three, with a drift":   {three(2), three(1), 2, 3, true},
		"two values of a block": {map[int][]float64{0: {1, 4}}, map[int][]float64{0: {1}}, 2, 1, false},
		"what has no logarithm": {map[int][]float64{0: {0, -1, math.NaN(), math.Inf(1), 3}}, map[int][]float64{0: {1}}, 3, 1, false},
		"only such":             {map[int][]float64{0: {0}}, map[int][]float64{0: {1}}, 0, 0, false},
	} {
		got := verdict.Paired(tc.a, tc.b)
		if got.N != tc.n || (got.Median == nil) != (tc.ratio == 0) || (got.Low == nil) == tc.intervals || (got.High == nil) == tc.intervals {
			t.Errorf("%s: %+v", name, got)
		}
		if got.Median != nil && math.Abs(*got.Median-tc.ratio) > 1e-9 {
			t.Errorf("%s: ratio %g, want %g", name, *got.Median, tc.ratio)
		}
	}
}

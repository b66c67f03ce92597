package document

import (
	"math"
	"testing"
)

func TestLinearAxesBeginAtZeroAndHoldTheData(t *testing.T) {
	for e := -9; e <= 12; e++ {
		for _, m := range []float64{1, 1.01, 1.9, 2, 3.7, 5, 9.99} {
			high := m * math.Pow10(e)
			a := NewAxis(0, high, false)
			ticks := a.Ticks()
			if a.At(ticks[0]) != 0 || a.At(ticks[len(ticks)-1]) != 1 || len(ticks) < 3 || len(ticks) > linearTicks+2 {
				t.Errorf("up to %g: ticks %v", high, ticks)
			}
			if at := a.At(high); at < 0.6 || at > 1 {
				t.Errorf("up to %g: the largest value lies at %g", high, at)
			}
			if math.Abs(a.At(high/2)*2-a.At(high)) > 1e-12 {
				t.Errorf("up to %g: not linear", high)
			}
		}
	}
}

func TestLogarithmicAxesSpaceRatiosEvenly(t *testing.T) {
	for _, c := range []struct{ low, high float64 }{{0.0009, 0.0266}, {1e-6, 3}, {0.5, 11}, {2, 50}} {
		a := NewAxis(c.low, c.high, true)
		if l, h := a.At(c.low), a.At(c.high); l < 0 || h > 1 || h <= l {
			t.Errorf("%g to %g: at %g and %g", c.low, c.high, l, h)
		}
		mid := math.Sqrt(c.low * c.high)
		if d := a.At(mid) - (a.At(c.low)+a.At(c.high))/2; math.Abs(d) > 1e-9 {
			t.Errorf("%g to %g: the geometric mean is %g off the middle", c.low, c.high, d)
		}
		ticks := a.Ticks()
		if len(ticks) < 3 || len(ticks) > 10 {
			t.Errorf("%g to %g: %d ticks", c.low, c.high, len(ticks))
		}
		for i, k := range ticks[1:] {
			if k <= ticks[i] {
				t.Errorf("%g to %g: tick %v after %v", c.low, c.high, k, ticks[i])
			}
		}
	}
}

// An axis of times ends where the times do, and has its ticks at round ones.
func TestAxesBetweenTwoValues(t *testing.T) {
	for _, c := range []struct{ low, high float64 }{{0, 1}, {0.197, 0.198}, {3600, 3601.05}, {0, 90.1}, {5, 5}, {-3, 7}} {
		a := AxisBetween(c.low, c.high)
		ticks := a.Ticks()
		if len(ticks) < 2 || len(ticks) > betweenTicks+2 || a.At(c.low) != 0 || c.high > c.low && a.At(c.high) != 1 {
			t.Errorf("%g to %g: ticks %v", c.low, c.high, ticks)
		}
		for _, x := range ticks {
			if n := x / a.step; math.Abs(n-math.Round(n)) > 1e-6 || x < c.low-1e-9 || x > a.high+1e-9 {
				t.Errorf("%g to %g: a tick at %g", c.low, c.high, x)
			}
		}
	}
}

// A journal may be anyone's: no number in it makes an axis that a renderer falls off.
func TestAxesOfAbsurdFigures(t *testing.T) {
	for _, high := range []float64{math.SmallestNonzeroFloat64, 1e-320, 1e-300, 1e300, math.MaxFloat64, math.NaN(), math.Inf(1), -1, 0} {
		for _, low := range []float64{high / 3, 0, 5e-324, math.Inf(1)} {
			for _, logarithmic := range []bool{false, true} {
				a := NewAxis(low, high, logarithmic)
				ticks := a.Ticks()
				if len(ticks) == 0 || len(ticks) > 20 {
					t.Errorf("%g to %g: %d ticks", low, high, len(ticks))
				}
				for _, x := range append(ticks, high, 0, 1, math.NaN(), math.Inf(-1)) {
					if at := a.At(x); !(at >= 0 && at <= 1) {
						t.Errorf("%g to %g: %g lies at %g", low, high, x, at)
					}
				}
			}
		}
	}
}

package report

import "math"

// axis maps values to fractions: linear from 0, or logarithmic between round
// numbers.
type axis struct {
	low, high float64
	log       bool
	step      float64 // between ticks; linear only
}

// linearTicks is about how many steps a linear axis has.
const linearTicks = 4

func newAxis(low, high float64, logarithmic bool) axis {
	if high <= 0 || math.IsInf(high, 0) || math.IsInf(low, 0) {
		return axis{high: 1, step: 1}
	}
	if logarithmic {
		low = max(low, high*1e-12) // from a day to less than a nanosecond: no reading needs more
		return axis{low: roundDown(low), high: roundUp(high), log: true}
	}
	step := roundUp(high / linearTicks)
	// A hair below a tick is that tick: 0.3/0.1 is not 3 in binary.
	return axis{high: step * math.Ceil(high/step-1e-9), step: step}
}

// at is clamped: an invalid trial may lie outside the range of the valid ones.
func (a axis) at(x float64) float64 {
	f := x / a.high
	if a.log {
		if x <= 0 {
			return 0
		}
		f = math.Log(x/a.low) / math.Log(a.high/a.low)
	}
	return min(1, max(0, f))
}

func (a axis) ticks(u unit) []Tick {
	var out []Tick
	if !a.log {
		for i := range int(math.Round(a.high/a.step)) + 1 {
			x := float64(i) * a.step
			out = append(out, Tick{At: a.at(x), Label: u.tick(x)})
		}
		return out
	}
	dense := a.high/a.low <= 100
	for x := a.low; x <= a.high*1.001; x = next(x) {
		lead := leading(x)
		if dense || lead == 1 {
			out = append(out, Tick{At: a.at(x), Label: u.tick(x)})
		}
	}
	return out
}

// roundUp and roundDown go to 1, 2 or 5 times a power of ten.
func roundUp(x float64) float64 {
	r := roundDown(x)
	if r < x*(1-1e-9) {
		return next(r)
	}
	return r
}

func roundDown(x float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(x)+1e-12))
	for _, m := range []float64{5, 2} {
		if x >= m*p*(1-1e-9) {
			return m * p
		}
	}
	return p
}

func next(x float64) float64 {
	if leading(x) == 2 {
		return x * 2.5
	}
	return x * 2
}

func leading(x float64) int {
	return int(math.Round(x / math.Pow(10, math.Floor(math.Log10(x)+1e-9))))
}

package document

import "math"

// Axis maps values to fractions, with a few round ticks: linear from 0, or logarithmic
// between round numbers.
type Axis struct {
	low, high float64
	log       bool
	step      float64 // between ticks, which are its multiples; linear only
}

// linearTicks is about how many steps a linear axis has.
const linearTicks = 4

// NewAxis is an axis that holds the values from low to high, in at most six ticks where
// it is linear; then low is not looked at.
func NewAxis(low, high float64, logarithmic bool) Axis {
	// Near the ends of what a float64 holds powers of ten are no longer round, and steps vanish.
	if !(high > 1e-290 && high < 1e290) || math.IsInf(low, 0) {
		return Axis{high: 1, step: 1}
	}
	if logarithmic {
		low = max(low, high*1e-12) // from a day to less than a nanosecond: no reading needs more
		return Axis{low: roundDown(low), high: roundUp(high), log: true}
	}
	step := roundUp(high / linearTicks)
	// A hair below a tick is that tick: 0.3/0.1 is not 3 in binary.
	return Axis{high: step * math.Ceil(high/step-1e-9), step: step}
}

// betweenTicks is about how many steps an axis between two values has.
const betweenTicks = 8

// AxisBetween is a linear axis that ends at the two values themselves, such as times: round
// numbers are its ticks alone.
func AxisBetween(low, high float64) Axis {
	if !(high > low) {
		return Axis{low: low, high: low + 1, step: 1}
	}
	return Axis{low: low, high: high, step: roundUp((high - low) / betweenTicks)}
}

// High is where the axis ends.
func (a Axis) High() float64 { return a.high }

// Logarithmic reports whether the axis is so.
func (a Axis) Logarithmic() bool { return a.log }

// At is the fraction at which x is. It is clamped: an invalid trial may lie outside the range of the valid ones.
func (a Axis) At(x float64) float64 {
	f := (x - a.low) / (a.high - a.low)
	if a.log { // not a number if x is below zero
		f = math.Log(x/a.low) / math.Log(a.high/a.low)
	}
	if math.IsNaN(f) {
		return 0
	}
	return min(1, max(0, f))
}

// Holds reports whether x lies on the axis.
func (a Axis) Holds(x float64) bool { return x >= a.low && x <= a.high }

// Ticks are the values to label.
func (a Axis) Ticks() []float64 {
	var out []float64
	if !a.log {
		first := math.Ceil(a.low/a.step - 1e-9)
		for i := range int(a.high/a.step-first+1e-9) + 1 {
			out = append(out, (first+float64(i))*a.step)
		}
		return out
	}
	dense := a.high/a.low <= 100
	for x := a.low; x <= a.high*1.001; x = next(x) {
		if dense || leading(x) == 1 {
			out = append(out, x)
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

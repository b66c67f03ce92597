package stat

import "math"

// Interval is a median, or an estimate, with its 95% interval, of N values; nil where there is
// none. Of a median Low and High are nil below six values: order statistics of fewer cannot
// reach 95%.
type Interval struct {
	Median *float64
	Low    *float64
	High   *float64
	N      int
}

// Above reports whether both are known, and this one is higher.
func (i Interval) Above(other Interval) bool {
	return i.Median != nil && other.Median != nil && *i.Median > *other.Median
}

// Scaled is the interval of BY times the values.
func (i Interval) Scaled(by float64) Interval {
	return Interval{Median: Scaled(i.Median, by), Low: Scaled(i.Low, by), High: Scaled(i.High, by), N: i.N}
}

// Inverse is the interval of 1 divided by the values.
func (i Interval) Inverse() Interval {
	return Interval{Median: Inverse(i.Median), Low: Inverse(i.High), High: Inverse(i.Low), N: i.N}
}

// Inverse is 1 divided by a number; nil of none, and where it is not finite.
func Inverse(x *float64) *float64 {
	if x == nil {
		return nil
	}
	return Known(1 / *x)
}

// Scaled is BY times a number; nil of none, and where it is not finite.
func Scaled(x *float64, by float64) *float64 {
	if x == nil {
		return nil
	}
	return Known(*x * by)
}

// Known is a number of a result; nil where it is not a finite one, which JSON cannot hold.
func Known(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// OrZero is a number, and 0 of none.
func OrZero[T int | int64 | float64](x *T) T {
	if x == nil {
		return 0
	}
	return *x
}

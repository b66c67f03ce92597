// Package number writes quantities: one formatter for each unit, so that a latency
// reads the same in a table, on a page and in a message.
//
// A measured quantity has three significant digits, zeros included, since they say how
// exact it is: "4.10 ms", "264 µs", "11.8k req/s". All digits before the point are kept.
// What somebody chose, such as an objective or the tick of an axis, is written without
// the zeros behind the point (Short): "20 ms". There is a space before a unit, but none
// before a percent sign: "5%". What is not a finite number is "unknown".
//
// Shares have fewer digits, and counts in sentences have more: see Percent, Share and
// Count. The package does not know what the quantities mean, and it does not parse.
package number

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"
)

// Digits are the significant ones of a measured quantity: trials that vary by a few per cent do not
// support more.
const Digits = 3

const unknown = "unknown"

// Unit writes the values of one dimension. Its zero value writes plain numbers.
type Unit struct {
	symbol string  // after a space and the prefix, the s of "4.10 ms"; the % of "5%" has no space
	name   string  // after the prefix and a space: the req/s of "11.8k req/s"
	factor float64 // of the only scale; 0 where the prefix follows the value
	most   float64 // the largest factor that has a prefix; 0 for any
	least  float64 // the smallest; 0 for any
	digits int     // 0 for Digits
	class  benchunit.Class
	short  bool
}

// Time is of values in seconds: "4.10 ms". Seconds have no prefix above: "1200 s".
func Time() Unit { return Unit{symbol: "s", most: 1} }

// PerSecond is of rates, with their unit: "11.8k req/s".
func PerSecond(name string) Unit { return Unit{name: name, least: 1} }

// Memory is of values in bytes: "1.50 GiB".
func Memory() Unit { return Unit{symbol: "B", class: benchunit.Binary} }

// Ratio is of shares in percent: two digits, and no zeros behind the point.
func Ratio() Unit { return Unit{symbol: "%", factor: 0.01, digits: 2, short: true} }

// Plain is of numbers without a prefix: "1.50 CPUs".
func Plain(name string) Unit { return Unit{name: name, factor: 1} }

// Short is the unit of values that somebody chose.
func (u Unit) Short() Unit {
	u.short = true
	return u
}

// Digits is the unit of values with n significant digits.
func (u Unit) Digits(n int) Unit {
	u.digits = n
	return u
}

// Name is the unit's name; empty where a value has it already.
func (u Unit) Name() string { return u.name }

// Number is a value without the unit's name: "11.8k".
func (u Unit) Number(x float64) string {
	if !finite(x) {
		return unknown
	}
	s := u.scale(x)
	if u.class == benchunit.Decimal {
		x = round(x, u.significant()) // before the division, which is not exact
	}
	return u.in(s, x) + s.Prefix
}

// Value is a value with all that it needs to be used alone: "11.8k req/s".
func (u Unit) Value(x float64) string {
	if u.name == "" || !finite(x) {
		return u.Number(x)
	}
	return u.Number(x) + " " + u.name
}

// Range is an interval in the scale of the value within: "3.92 ms, 4.55 ms".
func (u Unit) Range(within, low, high float64) string {
	if !finite(within) || !finite(low) || !finite(high) {
		return unknown
	}
	s := u.scale(within)
	return u.in(s, low) + s.Prefix + ", " + u.in(s, high) + s.Prefix
}

// Prefixed reports whether a value is shown in another scale than its own.
func (u Unit) Prefixed(x float64) bool { return finite(x) && u.scale(x).Factor != 1 }

// scale is the one of a value, with all that comes behind the number as its prefix.
func (u Unit) scale(x float64) benchunit.Scaler {
	s := benchunit.Scaler{Factor: 1}
	switch {
	case u.factor != 0:
		s.Factor = u.factor
	case x == 0:
	case u.class == benchunit.Binary:
		s = benchunit.CommonScale([]float64{x}, u.class)
		// 1023.7 KiB are no "1024 KiB".
		if next := 1024 * s.Factor; math.Abs(round(x/s.Factor, 4)) >= 1023.5 && next <= 1<<40 {
			s = benchunit.CommonScale([]float64{next}, u.class)
		}
	default:
		// The scale is that of the rounded value: 999.6 µs are 1.00 ms.
		s = benchunit.CommonScale([]float64{round(x, u.significant())}, u.class)
		if u.most != 0 && s.Factor > u.most || u.least != 0 && s.Factor < u.least {
			s = benchunit.Scaler{Factor: 1}
		}
	}
	switch u.symbol {
	case "", "%": // English writes 5%, but 5 ms
		s.Prefix += u.symbol
	default:
		s.Prefix = " " + s.Prefix + u.symbol
	}
	return s
}

func (u Unit) in(s benchunit.Scaler, x float64) string {
	text := Significant(x/s.Factor, u.significant())
	if u.short {
		return Short(text)
	}
	return text
}

func (u Unit) significant() int { return cmp.Or(u.digits, Digits) }

// Significant has n significant digits and all of those before the point: 1234.5 at 3 is
// "1234". Only what no machine measures has an exponent.
func Significant(x float64, n int) string {
	switch size := math.Abs(x); {
	case !finite(x):
		return unknown
	case x == 0:
		return "0"
	case size < 1e-12 || size > 1e18:
		return strconv.FormatFloat(x, 'e', n-1, 64)
	case size < math.Pow10(n):
		x = round(x, n)
	}
	decimals := max(0, n-1-int(math.Floor(math.Log10(math.Abs(x)))))
	return benchunit.Scaler{Prec: decimals, Factor: 1}.Format(x)
}

// round is a value with n significant digits.
func round(x float64, n int) float64 {
	if x == 0 || !finite(x) {
		return x
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', n-1, 64), 64)
	if err != nil {
		return x // it would round to more than a float64 holds
	}
	return r
}

// Short is a quantity without the zeros behind its point: "20 ms" for "20.0 ms".
func Short(quantity string) string {
	after := strings.TrimLeft(quantity, "-0123456789.")
	number := strings.TrimSuffix(quantity, after)
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + after
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

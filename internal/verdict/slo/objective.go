package slo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Objective is that a quantile of the latency, counted from the intended send, is
// at most so many seconds.
type Objective struct {
	Quantile float64 `json:"quantile"` // 0 to 1: 0.99
	Seconds  float64 `json:"seconds"`
}

// Parse reads "p99=20ms": a percentile, whose digits after the second are fractions
// from p90 on (p999 is 99.9%, p99.9 too), and a duration. The error says what is wrong.
func Parse(s string) (Objective, error) {
	const form = "want a percentile and the latency that it may have, as in p99=20ms"
	name, limit, ok := strings.Cut(strings.TrimSpace(s), "=")
	if !ok {
		return Objective{}, fmt.Errorf("%q: %s", s, form)
	}
	quantile, err := parsePercentile(strings.TrimSpace(name))
	if err != nil {
		return Objective{}, fmt.Errorf("%q: %w: %s", s, err, form)
	}
	d, err := time.ParseDuration(strings.TrimSpace(limit))
	if err != nil || d <= 0 {
		return Objective{}, fmt.Errorf("%q: %q is not a duration above zero: %s", s, limit, form)
	}
	return Objective{Quantile: quantile, Seconds: d.Seconds()}, nil
}

func parsePercentile(name string) (float64, error) {
	digits, ok := strings.CutPrefix(name, "p")
	whole, fraction, point := strings.Cut(digits, ".")
	if !point && len(digits) > 2 && digits[0] == '9' {
		whole, fraction = digits[:2], digits[2:]
	}
	for _, c := range whole + fraction {
		ok = ok && '0' <= c && c <= '9'
	}
	percent, err := strconv.ParseFloat(whole+"."+fraction, 64)
	if !ok || err != nil || whole == "" || percent <= 0 || percent > 99.99 {
		return 0, fmt.Errorf("%q is not a percentile from p1 to p9999", name)
	}
	return percent / 100, nil
}

// Name is the percentile's: p99, p99.9.
func (o Objective) Name() string {
	return "p" + strconv.FormatFloat(math.Round(o.Quantile*1e6)/1e4, 'f', -1, 64)
}

// Limit is the latency that it may have.
func (o Objective) Limit() time.Duration {
	return time.Duration(math.Round(o.Seconds * 1e9))
}

// String is the objective as Parse reads it.
func (o Objective) String() string { return o.Name() + "=" + o.Limit().String() }

package phrase

import (
	"strconv"
	"strings"
)

// Share is a part of a whole in percent, without decimals. It does not say 0 or 100
// of what is only close to it.
func Share(ratio float64) string {
	p := int(ratio*100 + 0.5)
	switch {
	case p >= 100 && ratio < 1:
		p = 99
	case p <= 0 && ratio > 0:
		return "<1 %"
	}
	return strconv.Itoa(p) + " %"
}

// Amount is a mean of things that are counted: with one decimal below 10, none
// where it is whole. What is small is not said to be nothing.
func Amount(x float64) string {
	switch {
	case x > 0 && x < 0.05:
		return "<0.1"
	case x < 9.95:
		return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// AmountOf is an Amount with its noun: "1 goroutine", "2.5 goroutines".
func AmountOf(x float64, noun string) string {
	if x == 1 {
		return "1 " + noun
	}
	return Amount(x) + " " + noun + "s"
}

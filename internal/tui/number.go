package tui

import (
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/ps"
)

// whole has no digits after the point, and k or M above 10,000.
func whole(v float64) string {
	switch {
	case v >= 9_999_500:
		return strconv.FormatFloat(v/1e6, 'f', 0, 64) + "M"
	case v >= 999_500:
		return strconv.FormatFloat(v/1e6, 'f', 1, 64) + "M"
	case v >= 9_999.5:
		return strconv.FormatFloat(v/1e3, 'f', 0, 64) + "k"
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// some has up to two digits after the point, fewer of large numbers.
func some(v float64) string {
	switch {
	case v >= 100:
		return whole(v)
	case v >= 10:
		return trim(strconv.FormatFloat(v, 'f', 1, 64))
	}
	return trim(strconv.FormatFloat(v, 'f', 2, 64))
}

func trim(s string) string {
	for s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	if s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}

// share is a ratio in per cent.
func share(v float64) string {
	if v > 0 && v < 0.005 {
		return "<1 %"
	}
	return strconv.FormatFloat(100*v, 'f', 0, 64) + " %"
}

// span is seconds in two significant digits.
func (l look) span(seconds float64) string {
	text := ps.Seconds(seconds)
	if l.ascii {
		text = strings.Replace(text, "µs", "us", 1)
	}
	return text
}

// age is a time in whole seconds, minutes or hours.
func age(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d >= time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h" + strconv.Itoa(int(d/time.Minute)%60) + "m"
	case d >= time.Minute:
		return strconv.Itoa(int(d/time.Minute)) + "m" + strconv.Itoa(int(d/time.Second)%60) + "s"
	}
	return strconv.Itoa(int(d/time.Second)) + "s"
}

package phrase

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// CPUs is a number of CPUs with its noun: "1 CPU", "2.5 CPUs".
func CPUs(x float64) string {
	s := strconv.FormatFloat(x, 'g', 4, 64)
	if s == "1" {
		return "1 CPU"
	}
	return s + " CPUs"
}

// Percent of a ratio: "3.2 %", "46 %"; from 10 % on without a decimal.
func Percent(ratio float64) string {
	digits := 1
	if math.Abs(ratio) >= 0.0995 {
		digits = 0
	}
	return strings.TrimSuffix(strconv.FormatFloat(100*ratio, 'f', digits, 64), ".0") + " %"
}

// Thousands is a number with its thousands set apart: "11,840". Below 100 it has
// three significant digits.
func Thousands(x float64) string {
	if math.Abs(x) < 100 {
		return figure(x)
	}
	s := strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	first := 0
	if s[0] == '-' {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Seconds is a time, given in seconds, in the unit that suits it: "264 µs".
func Seconds(x float64) string {
	switch {
	case x < 0.9995e-3: // what would round to 1000 µs is 1 ms
		return figure(x*1e6) + " µs"
	case x < 0.9995:
		return figure(x*1e3) + " ms"
	}
	return figure(x) + " s"
}

// figure has three significant digits, and all of those before the point; never an
// exponent, which people misread.
func figure(x float64) string {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(x))))
	s := strconv.FormatFloat(x, 'f', min(max(0, decimals), 12), 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Minutes is how long something takes: "42s", "2 min 5 s".
func Minutes(d time.Duration) string {
	if d < time.Minute {
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
}

// Clock is a time as a clock shows it: "1:05" for 65 seconds, "1:00:00".
func Clock(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

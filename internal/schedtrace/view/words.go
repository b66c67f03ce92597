package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/schedtrace"
)

// printable makes text from outside fit to be shown: what does not print becomes
// an escape.
func printable(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return s
	}
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// sentence begins with a capital and ends with a full stop. What begins with a
// quoted command or a name stays as it is.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	if r, n := utf8.DecodeRuneInString(s); unicode.IsLower(r) {
		s = string(unicode.ToUpper(r)) + s[n:]
	}
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// amount has one decimal below 10, none where it is whole; what is small is not
// said to be nothing.
func amount(v float64) string {
	switch {
	case v > 0 && v < 0.05:
		return "<0.1"
	case v < 9.95:
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}

func goroutines(v float64) string {
	if v == 1 {
		return "1 goroutine"
	}
	return amount(v) + " goroutines"
}

// percent does not say 0 or 100 of what is only close to it.
func percent(share float64) string {
	p := int(share*100 + 0.5)
	switch {
	case p >= 100 && share < 1:
		p = 99
	case p <= 0 && share > 0:
		return "<1 %"
	}
	return strconv.Itoa(p) + " %"
}

// span is "8", or "2 to 8".
func span(l *schedtrace.Level) string {
	if l.Min == l.Max {
		return amount(l.Min)
	}
	return amount(l.Min) + " to " + amount(l.Max)
}

// duration is of three digits at most.
func duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case ms < 1000:
		return strconv.FormatInt(ms, 10) + " ms"
	case ms < 10_000:
		return strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 1, 64), ".0") + " s"
	case d < 2*time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 0, 64) + " s"
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

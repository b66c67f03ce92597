package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/schedtrace"
)

// sentence begins with a capital and ends with a full stop. What begins with a
// quoted command or a name stays as it is.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	s = phrase.Capital(s)
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// span is "8", or "2 to 8".
func span(l *schedtrace.Level) string {
	if l.Min == l.Max {
		return phrase.Amount(l.Min)
	}
	return phrase.Amount(l.Min) + " to " + phrase.Amount(l.Max)
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

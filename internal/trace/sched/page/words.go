package page

import (
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/trace/sched"
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
func span(l *sched.Level) string {
	if l.Min == l.Max {
		return number.Amount(l.Min)
	}
	return number.Amount(l.Min) + " to " + number.Amount(l.Max)
}

// duration is how long something took that was counted in milliseconds.
func duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d < 2*time.Minute {
		return number.Short(number.Duration(d))
	}
	return number.Minutes(d)
}

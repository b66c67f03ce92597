package ps

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/observe"
	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/rule"
)

func procsCell(p observe.Process) string {
	n, known := p.Procs()
	return number(float64(n), known)
}

func setByCell(p observe.Process) string {
	if p.SetBy == rule.SetByUnknown {
		return "?"
	}
	return string(p.SetBy)
}

// limitCell is the tightest limit and the last name of the group that has it.
func limitCell(p observe.Process) string {
	l, ok := p.Facts.Tightest()
	switch {
	case ok:
		return fmt.Sprintf("%s %s", strconv.FormatFloat(l.CPUs, 'g', 4, 64), clipStart(phrase.Clean(path.Base(l.Dir)), 20))
	case len(p.Facts.Unknown()) > 0:
		return "?"
	}
	return unknownCell
}

func throttledCell(p observe.Process) string {
	if p.Throttling == nil || p.Throttling.Periods == 0 {
		return unknownCell
	}
	cell := fmt.Sprintf("%.0f %%", 100*p.Throttling.Ratio())
	if t := p.Throttling; t.Span > 0 && t.Throttled > 0 {
		cell = perSecond(t.Throttled, t.Span) + ", " + cell
	}
	return cell
}

// perSecond is a time a second of time.
func perSecond(d, span time.Duration) string {
	return Seconds(d.Seconds()/span.Seconds()) + "/s"
}

func latencyCell(p observe.Process, q float64) string {
	v, known := p.Last().LatencyAt(q)
	if !known {
		return unknownCell
	}
	return Seconds(v)
}

// waitCell is the waiting of all threads a second of time.
func waitCell(p observe.Process) string {
	c := p.Last()
	if !c.Counted || c.Span <= 0 {
		return unknownCell
	}
	if c.RunQueueWait == 0 {
		return "0"
	}
	return perSecond(c.RunQueueWait, c.Span)
}

// Seconds is a time in two significant digits: "1.2ms".
func Seconds(seconds float64) string {
	for _, unit := range []struct {
		name string
		of   float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
		switch v := seconds / unit.of; {
		case v >= 9.95:
			return strconv.FormatFloat(v, 'f', 0, 64) + unit.name
		case v >= 0.9995:
			return strconv.FormatFloat(v, 'f', 1, 64) + unit.name
		}
	}
	if seconds <= 0 || math.IsNaN(seconds) {
		return "0"
	}
	return strconv.FormatFloat(seconds*1e9, 'f', 0, 64) + "ns"
}

func orUnknown(s string) string {
	if s == "" {
		return unknownCell
	}
	return s
}

// number has three significant digits below 100 and none after the point above.
func number(v float64, known bool) string {
	switch {
	case !known:
		return unknownCell
	case v >= 100 || v == float64(int64(v)):
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

func goRelease(p observe.Process) string {
	return orUnknown(clip(phrase.Clean(strings.TrimPrefix(Release(p), "go")), 16))
}

// clipStart shortens by the beginning, where names of groups are alike.
func clipStart(s string, n int) string {
	if w := ansi.StringWidth(s); w > n {
		return ansi.TruncateLeft(s, w-n+1, "…")
	}
	return s
}

// clip shortens by the end, and shows that it did.
func clip(s string, n int) string { return ansi.Truncate(s, n, "…") }

package ps

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/observe"
	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// nameCell is the name, of so many columns at most.
func nameCell(most int) func(observe.Process) string {
	return func(p observe.Process) string { return clip(phrase.Clean(p.Name), most) }
}

func findingsCell(p observe.Process) string { return strings.Join(rule.IDs(p.Findings), " ") }

// shortFindings is the worst, and how many more there are.
func shortFindings(p observe.Process) string {
	ids := rule.IDs(p.Findings)
	if len(ids) < 2 {
		return findingsCell(p)
	}
	return fmt.Sprintf("%s +%d", ids[0], len(ids)-1)
}

func procsCell(p observe.Process) string {
	n, known := p.Procs()
	return number(float64(n), known)
}

// Fit says which GOMAXPROCS suits the CPUs of a process and what that follows from:
// "→ 1, limit 0.5". Where it runs with that value it is "fits".
func Fit(p observe.Process) string {
	text, number := fitParts(p)
	if number == "" {
		return text
	}
	return number + ", " + text
}

// shortFit is that without the reason.
func shortFit(p observe.Process) string {
	text, number := fitParts(p)
	return cmp.Or(number, text)
}

// fitParts are the reason and the value that fits; without a value the reason is
// all there is to say.
func fitParts(p observe.Process) (reason, number string) {
	why, known := fitFrom(p)
	switch n, runs := p.Procs(); {
	case len(p.Facts.Unknown()) > 0 || !known:
		return "?", ""
	case runs && n == p.Fit.Procs:
		return "fits", ""
	case runs:
		number = "→ "
	}
	number += strconv.Itoa(p.Fit.Procs)
	switch {
	case why.What == facts.KindLimit:
		return "limit " + strconv.FormatFloat(why.CPUs, 'g', 4, 64), number
	case why.CPUs < p.Facts.Online.CPUs:
		return "affinity", number
	}
	return "all CPUs", number
}

// fitFrom is what the value that fits follows from; not known where no CPUs are.
func fitFrom(p observe.Process) (facts.Candidate, bool) {
	i := slices.IndexFunc(p.Fit.Candidates, func(c facts.Candidate) bool { return c.Winner })
	if i < 0 || p.Facts.EffectiveCPUs() <= 0 {
		return facts.Candidate{}, false
	}
	return p.Fit.Candidates[i], true
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
	return fmt.Sprintf("%.0f %%", 100*p.Throttling.Ratio())
}

func latencyCell(p observe.Process, q float64) string {
	v, known := p.Last().LatencyAt(q)
	if !known {
		return unknownCell
	}
	return Seconds(v)
}

// hundredths is a number of CPUs or threads over a span.
func hundredths(v float64, known bool) string {
	if !known {
		return unknownCell
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
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

package ps

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
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
	if !known {
		return unknownCell
	}
	return strconv.Itoa(n)
}

// Fit says which GOMAXPROCS suits the CPUs of a process and what that follows from:
// "→ 1, limit 0.5". Where it runs with that value it is "fits".
func Fit(p observe.Process) string {
	text, procs := fitParts(p)
	if procs == "" {
		return text
	}
	return procs + ", " + text
}

// shortFit is that without the reason.
func shortFit(p observe.Process) string {
	text, procs := fitParts(p)
	return cmp.Or(procs, text)
}

// fitParts are the reason and the value that fits; without a value the reason is
// all there is to say.
func fitParts(p observe.Process) (reason, procs string) {
	why, known := fitFrom(p)
	switch n, runs := p.Procs(); {
	case len(p.Facts.Unknown()) > 0 || !known:
		return "?", ""
	case runs && n == p.Fit.Procs:
		return "fits", ""
	case runs:
		procs = "→ "
	}
	procs += strconv.Itoa(p.Fit.Procs)
	switch {
	case why.What == facts.KindLimit:
		return "limit " + number.BareCPUs(why.CPUs), procs
	case why.CPUs < p.Facts.Online.CPUs:
		return "affinity", procs
	}
	return "all CPUs", procs
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
		return fmt.Sprintf("%s %s", number.BareCPUs(l.CPUs), clipStart(phrase.Clean(path.Base(l.Dir)), 20))
	case len(p.Facts.Unknown()) > 0:
		return "?"
	}
	return unknownCell
}

func throttledCell(p observe.Process) string {
	if p.Throttling == nil || p.Throttling.Periods == 0 {
		return unknownCell
	}
	return number.Share(p.Throttling.Ratio())
}

func latencyCell(p observe.Process, q float64) string {
	v, known := p.Last().LatencyAt(q)
	if !known {
		return unknownCell
	}
	return number.Seconds(v)
}

// hundredths is a number of CPUs or threads over a span.
func hundredths(v float64, known bool) string {
	if !known {
		return unknownCell
	}
	return number.Hundredths(v)
}

// rateCell is how often something happened in a second.
func rateCell(v float64, known bool) string {
	if !known {
		return unknownCell
	}
	return number.Rate(v)
}

func numCPUCell(p observe.Process) string {
	if p.NumCPU <= 0 {
		return unknownCell
	}
	return strconv.Itoa(p.NumCPU)
}

func orUnknown(s string) string {
	if s == "" {
		return unknownCell
	}
	return s
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

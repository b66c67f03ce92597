package rule

import (
	"fmt"
	"math"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Throttling is how the limit of one group held its processes back.
type Throttling struct {
	Dir string // the group
	facts.Throttling
	Span time.Duration // that was watched; 0: since the group was made
}

// Ratio is the share of periods in which the quota ran out, of those in which
// the group wanted to run.
func (t Throttling) Ratio() float64 {
	if t.Periods <= 0 {
		return 0
	}
	return float64(t.ThrottledPeriods) / float64(t.Periods)
}

// Throttling in fewer periods than this share is nothing to act on; from the
// other on it is what kubernetes-mixin alerts on as CPUThrottlingHigh.
const (
	throttledSome = 0.05
	throttledHigh = 0.25
	fewestPeriods = 2 // that were throttled: once is a start
)

// throttled tells that it is worth a word, and how bad it is.
func (s Subject) throttled() (Throttling, Severity, bool) {
	t := s.Throttling
	switch {
	case t == nil || t.ThrottledPeriods < fewestPeriods || t.Ratio() < throttledSome:
		return Throttling{}, "", false
	case t.Ratio() < throttledHigh:
		return *t, Info, true
	}
	return *t, Warning, true
}

// throttledBy is a part of a sentence: "throttled by the limit of /cg (2 CPUs) in
// 40% of periods".
func (s Subject) throttledBy(t Throttling) string {
	limit := ""
	if l, ok := s.limitOf(t.Dir); ok {
		limit = " (" + number.CPUs(l.CPUs) + ")"
	}
	since := ""
	if t.Span == 0 {
		since = " since the group was made"
	}
	return fmt.Sprintf("throttled by the limit of %s%s in %s of periods%s", t.Dir, limit, number.Share(t.Ratio()), since)
}

func (s Subject) limitOf(dir string) (facts.Limit, bool) {
	for _, l := range s.Facts.Limits {
		if l.Dir == dir && l.State == facts.Known {
			return l, true
		}
	}
	return facts.Limit{}, false
}

func checkThrottledTooMany(s Subject) []Finding {
	t, severity, throttled := s.throttled()
	tooMany := checkTooMany(s)
	if !throttled || len(tooMany) == 0 {
		return nil
	}
	n, _ := s.Procs()
	return []Finding{{
		Severity: severity,
		Message:  s.throttledBy(t) + ", and " + s.runs(n),
		Fix:      tooMany[0].Fix,
	}}
}

func checkThrottledFitting(s Subject) []Finding {
	t, severity, throttled := s.throttled()
	n, known := s.Procs()
	if !throttled || !known || s.tooMany() {
		return nil
	}
	f := Finding{
		Severity: severity,
		Message:  s.throttledBy(t) + ", and " + s.runs(n) + ", which fits it",
		Fix:      "raise the limit of " + t.Dir + ", or give it less to do",
	}
	// n Ps never use more than n CPUs by Go code alone.
	if l, ok := s.limitOf(t.Dir); ok && float64(n) <= l.CPUs {
		f.Fix = fmt.Sprintf("see what else runs in %s, or runs C code or system calls there: %s alone cannot use more than %s; then raise its limit",
			t.Dir, ps(n), number.CPUs(float64(n)))
	} else if ok && n > 1 && float64(n) < math.Ceil(l.CPUs)+1 {
		f.Fix = fmt.Sprintf("raise the limit of %s to %s, or let procfit sweep --limit %s --procs %d,%d tell what the part of a CPU is worth",
			t.Dir, number.CPUs(float64(n)), number.Exact(l.CPUs), n-1, n)
	}
	return []Finding{f}
}

package rule

import (
	"fmt"
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
// 40 % of periods".
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

package rule

import (
	"fmt"
	"math"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Throttling is how the limit of one cgroup throttled its processes.
type Throttling struct {
	Dir string // the cgroup
	facts.Throttling
	Span time.Duration // the time that was watched; 0: since the cgroup was created
}

// Ratio is the share of periods in which the CPU time ran out, among those in which the
// cgroup wanted to run.
func (t Throttling) Ratio() float64 {
	if t.Periods <= 0 {
		return 0
	}
	return float64(t.ThrottledPeriods) / float64(t.Periods)
}

// A share of throttled periods below throttledSome needs no action. From throttledHigh on
// kubernetes-mixin alerts with CPUThrottlingHigh.
const (
	throttledSome = 0.05
	throttledHigh = 0.25
	fewestPeriods = 2 // throttled once can be the start of the program
)

// throttled reports whether it is worth a finding, and how bad it is.
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
	limit, burst := "", 0.0
	if l, ok := s.limitOf(t.Dir); ok {
		limit, burst = " ("+number.Limit(l.CPUs, l.Burst.CPUs)+")", l.Burst.CPUs
	}
	since := ""
	if t.Span == 0 {
		since = " since the cgroup was created"
	}
	bursts := ""
	if burst > 0 && t.Bursts > 0 && t.Periods > 0 { // the kernel also counts one when a limit is lowered
		bursts = fmt.Sprintf(" (and used its burst in %s)", number.Share(float64(t.Bursts)/float64(t.Periods)))
	}
	return fmt.Sprintf("throttled by the limit of %s%s in %s of periods%s%s", t.Dir, limit, number.Share(t.Ratio()), bursts, since)
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
		Message:  s.throttledBy(t) + ", and " + s.Uses(n),
		Fix:      tooMany[0].Fix,
		Now:      tooMany[0].Now,
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
		Message:  s.throttledBy(t) + ", although it " + s.Uses(n) + ", which is not too high",
		Fix:      "raise the limit of " + t.Dir + ", or give it less work",
	}
	// Go code alone never uses more CPUs than GOMAXPROCS.
	if l, ok := s.limitOf(t.Dir); ok && float64(n) <= l.CPUs {
		f.Fix = fmt.Sprintf("find out what else runs in %s, or which C code and system calls run there: Go code with %s cannot use more than %s; then raise its limit",
			t.Dir, setting(n), number.CPUs(float64(n)))
	} else if ok && n > 1 && float64(n) < math.Ceil(l.CPUs)+1 {
		f.Fix = fmt.Sprintf("raise the limit of %s to %s, or measure whether the extra fraction of a CPU is worth it: %s",
			t.Dir, number.CPUs(float64(n)), s.measure(fmt.Sprintf("%d,%d", n-1, n)))
	}
	return []Finding{f}
}

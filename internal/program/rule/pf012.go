package rule

import (
	"fmt"
	"math"

	"github.com/procfit/procfit/internal/show/number"
)

func throttledFitting() Rule {
	return Rule{
		ID:       "PF012",
		Title:    "throttled, with Ps that fit the limit",
		Severity: Warning,
		Since:    "0.1",
		Measured: true,
		Why: `No more Ps than the limit grants CPUs, rounded up, and the quota runs out all the
same: the work needs more CPU time than there is, or something else in the group
takes it, a sidecar, a child, threads in C code or in system calls. GOMAXPROCS is
not the knob.
The share is that of periods in which the quota ran out, of those in which the group
wanted to run. All processes of the group count.`,
		Fix:   `Raise the limit, or find out who in the group spends the CPU time. Fewer Ps only queue the same work elsewhere.`,
		Check: checkThrottledFitting,
	}
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
		f.Fix = fmt.Sprintf("raise the limit of %s to %s, or let procfit sweep --quota %s --procs %d,%d tell what the part of a CPU is worth",
			t.Dir, number.CPUs(float64(n)), number.Exact(l.CPUs), n-1, n)
	}
	return []Finding{f}
}

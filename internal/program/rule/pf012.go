package rule

import (
	"fmt"
	"math"

	"github.com/procfit/procfit/internal/show/number"
)

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

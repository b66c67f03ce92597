package cli

import (
	"fmt"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// count is how many trials there are of how many.
func count(p plan.Progress) string {
	if p.AtMost {
		return fmt.Sprintf("%d of at most %d", p.Done, p.Total)
	}
	return fmt.Sprintf("%d/%d", p.Done, p.Total)
}

// open is what the trials have still to tell, the first of it in words.
func open(list []plan.Question) string {
	if len(list) == 0 {
		return ""
	}
	q := list[0]
	s := fmt.Sprintf(": %d", q.A)
	if q.B > 0 {
		s += fmt.Sprintf(" or %d", q.B)
	}
	if q.Latency {
		s += ", by p99"
	}
	if name := group(q.Group); name != "" {
		s = " (" + name[1:] + ")" + s
	}
	if n := len(list) - 1; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return ", open" + s
}

// group is what tells settings of one group from those of another.
func group(g journal.GroupKey) (s string) {
	if g.Limited {
		s += fmt.Sprintf(" quota %g", g.QuotaCPUs)
	}
	if g.GoVersion != "" {
		s += " go" + g.GoVersion
	}
	return s
}

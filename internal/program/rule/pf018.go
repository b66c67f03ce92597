package rule

import (
	"fmt"
	"math"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

func noLimit() Rule {
	return Rule{
		ID:       "PF018",
		Title:    "a request, no limit, and a P for every CPU of the node",
		Severity: Info,
		Since:    "0.1",
		Why: `Without a CPU limit no Go runtime has a number to follow: it takes one P for each
CPU of the node. The request is what the program gets when the node is busy, and its
Ps then take turns on that much: on a node of 64 CPUs, 64 Ps on a share of one. No
limit at all is a good choice for many programs; then GOMAXPROCS says how wide the
program is to be, and it is worth a measurement.`,
		Fix:   `Write GOMAXPROCS, at the request rounded up or above, or set a CPU limit: procfit sweep shows which value is best.`,
		Check: checkNoLimit,
	}
}

func checkNoLimit(s Subject) []Finding {
	n, known := s.Procs()
	if s.Written == nil || s.Written.Requests <= 0 || !known || s.SetBy != SetByAuto || s.Written.Image {
		return nil
	}
	if _, limited := s.Facts.Tightest(); limited || s.Facts.Env.State == facts.Unreadable || float64(n) <= math.Ceil(s.Written.Requests) {
		return nil
	}
	return []Finding{{
		Message: fmt.Sprintf("requests %s and has no CPU limit: it %s", number.CPUs(s.Written.Requests), s.runs(n)),
		Fix:     fmt.Sprintf("set GOMAXPROCS, to %d or more, or a CPU limit; procfit sweep shows which value is best", int(math.Ceil(s.Written.Requests))),
	}}
}

package rule

import (
	"fmt"
	"math"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

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

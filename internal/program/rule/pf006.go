package rule

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/number"
)

func checkOldGo(s Subject) []Finding {
	l, limited := s.Limit()
	if s.releaseReadsLimit || !limited || !limitMatters(s) {
		return nil
	}
	fix := s.orElse("build it with Go "+s.goThatReads()+" or newer and go 1.25 in go.mod, or import github.com/procfit/procfit/maxprocs/auto", s.modern())
	if s.Foreign {
		fix = s.setEnv()
	}
	return []Finding{{
		Message: fmt.Sprintf("%s reads no CPU limit, and there is one of %s (%s)%s", s.goName(), number.CPUs(l.CPUs), l.Dir, s.unlessSet()),
		Fix:     fix,
	}}
}

package rule

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/number"
)

func oldGo() Rule {
	return Rule{
		ID:       "PF006",
		Title:    "an old Go under a CPU limit",
		Severity: Warning,
		Since:    "0.1",
		Why: `Up to Go 1.24 the default of GOMAXPROCS is the number of CPUs in the affinity
mask. A CPU limit is not looked at, so a program with 2 of a machine's 64 CPUs runs
with 64 Ps, and is throttled.`,
		Fix:   `Build with Go 1.25 or newer and go 1.25 in go.mod, or import maxprocs/auto; until then set GOMAXPROCS.`,
		Check: checkOldGo,
	}
}

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

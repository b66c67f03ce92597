package rule

import (
	"fmt"
	"math"

	"github.com/procfit/procfit/internal/show/number"
)

func checkTooFew(s Subject) []Finding {
	n, known := s.Procs()
	have := s.usable()
	// A millionth forgives the division of quota by period.
	if !known || !s.sized() || len(s.Facts.Unknown()) > 0 || float64(n) >= math.Floor(have+1e-6) {
		return nil
	}
	f := Finding{
		Message: fmt.Sprintf("%s and could use %s", s.runs(n), number.CPUs(have)),
		Fix:     fmt.Sprintf("unless a sweep has shown that %d is enough, let it take %d", n, s.Fit.Procs),
	}
	switch {
	case s.SetBy == SetByEnv:
		f.Fix = fmt.Sprintf("unless a sweep has shown that %d is enough, %s", n, s.insteadOfEnv())
	case s.SetBy == SetByAuto && n != s.Go.Procs:
		f.Fix = s.restart()
	}
	return []Finding{f}
}

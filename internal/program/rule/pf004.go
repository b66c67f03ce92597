package rule

import (
	"fmt"
	"math"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

func checkFrozen(s Subject) []Finding {
	n, known := s.Procs()
	own := ownLimit(s.Facts)
	have := s.usable()
	if s.Automaxprocs != "" && (s.Foreign || s.SetBy == SetByCode) {
		return nil // without the variable automaxprocs would fix it, and PF007 tells of that
	}
	if !known || own == nil || !s.readsLimit || s.tooMany() || s.Unset() < 1 || s.Unset() > s.Fit.Procs || float64(n) < math.Floor(have+1e-6) {
		return nil
	}
	var by, fix string
	switch s.SetBy {
	case SetByEnv:
		by, fix = fmt.Sprintf("GOMAXPROCS=%s in its environment", s.env()), "remove it"
		if s.Automaxprocs != "" {
			fix += " and the import of go.uber.org/automaxprocs"
		}
	case SetByCode:
		by, fix = "a call of runtime.GOMAXPROCS", "remove the call"
		if _, overridden := s.Overridden(); overridden {
			fix += fmt.Sprintf(", and GOMAXPROCS=%s from its environment", s.env())
		}
	default:
		return nil
	}
	f := Finding{
		Message: fmt.Sprintf("%s fixes %d, so it will not follow the limit of %s (now %s)", by, n, own.Dir, number.CPUs(own.CPUs)),
		Fix:     fmt.Sprintf("%s: the runtime chooses %d by itself and follows the limit", fix, s.Unset()),
	}
	if n != s.Unset() {
		f.Fix += fmt.Sprintf("; %d and %d both fit %s", n, s.Unset(), number.CPUs(have))
	}
	return []Finding{f}
}

// ownLimit is the limit of the program's own group, the one that the runtime
// reads; nil when it has none.
func ownLimit(f facts.Facts) *facts.Limit {
	own, found := f.Own()
	if !found || own.State != facts.Known {
		return nil
	}
	return &own
}

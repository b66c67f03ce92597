package rule

import (
	"fmt"
	"math"
)

func checkOverridden(s Subject) []Finding {
	n, overridden := s.Overridden()
	if !overridden {
		return nil
	}
	by := "a call of runtime.GOMAXPROCS in the program overrides it"
	if s.SetBy == SetByAuto {
		by = "its runtime follows its own default again, as after a call of runtime.SetDefaultGOMAXPROCS"
	}
	return []Finding{{
		Message: fmt.Sprintf("%s, and GOMAXPROCS=%s in its environment has no effect: %s", s.runs(*s.Live), s.env(), by),
		Fix:     s.settleOverride(n),
	}}
}

// settleOverride is how one of the two values comes to count that fits, or a third.
func (s Subject) settleOverride(n int) string {
	remove := fmt.Sprintf("remove GOMAXPROCS=%s from its environment", s.env())
	switch {
	case s.Facts.EffectiveCPUs() == 0 || s.fits(*s.Live) && !s.fits(n):
		return remove
	case s.fits(*s.Live):
		return fmt.Sprintf("%s, or the call if %s is meant", remove, s.env())
	case s.fits(n): // the variable is right, and the call has to go
		return fmt.Sprintf("let the program leave GOMAXPROCS alone where its environment sets it: %s fits its CPUs", s.env())
	case s.SetBy == SetByAuto:
		return fmt.Sprintf("set GOMAXPROCS=%d in its environment instead of %s, and let the program leave it alone", s.Fit.Procs, s.env())
	}
	return fmt.Sprintf("find the call of runtime.GOMAXPROCS in it and let it take %d, and %s", s.Fit.Procs, remove)
}

// fits tells that the value is what its CPUs can feed, rounded down or up.
func (s Subject) fits(n int) bool {
	have := s.usable()
	return s.Facts.EffectiveCPUs() > 0 && n <= s.Fit.Procs && float64(n) >= math.Floor(have+1e-6)
}

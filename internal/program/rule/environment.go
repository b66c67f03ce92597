package rule

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/maxprocs/facts"
)

func checkIgnoredEnv(s Subject) []Finding {
	if _, counts := s.EnvProcs(); counts || s.Facts.Env.State != facts.Known {
		return nil
	}
	f := Finding{Message: fmt.Sprintf("GOMAXPROCS=%q is not a positive whole number, so %s ignores it", s.env(), s.RuntimeName())}
	_, err := strconv.ParseInt(s.Facts.Env.Raw, 10, 32)
	if errors.Is(err, strconv.ErrRange) && strings.Trim(s.Facts.Env.Raw, "0123456789") == "" {
		f.Message = fmt.Sprintf("GOMAXPROCS=%s is above %d, the largest number that %s accepts, so it is ignored", s.env(), math.MaxInt32, s.RuntimeName())
	}
	f.Fix = "remove it, or write a positive whole number"
	switch {
	case !s.sized():
	case s.Automaxprocs != "":
		f.Fix = fmt.Sprintf("write GOMAXPROCS=%d", s.Fit.Procs)
	case s.Unset() == s.Fit.Procs:
		f.Fix = fmt.Sprintf("remove it: the runtime chooses %d by itself", s.Unset())
	default:
		f.Fix = fmt.Sprintf("write GOMAXPROCS=%d; %s", s.Fit.Procs, s.withoutEnv())
	}
	if s.Facts.Env.Raw == "" {
		f.Severity = Info
		f.Message = `GOMAXPROCS is set but empty in the environment: the runtime handles it as unset, but automaxprocs then does nothing`
		f.Fix = "remove it"
	}
	return []Finding{f}
}

func checkOverridden(s Subject) []Finding {
	n, overridden := s.Overridden()
	if !overridden {
		return nil
	}
	by := "a call of runtime.GOMAXPROCS in the program overrides it"
	if s.SetBy == SetByAuto {
		by = "its runtime is back at its own default, as after a call of runtime.SetDefaultGOMAXPROCS"
	}
	return []Finding{{
		Message: fmt.Sprintf("%s, but its environment sets GOMAXPROCS=%s, which has no effect: %s", s.uses(*s.Live), s.env(), by),
		Fix:     s.settleOverride(n),
	}}
}

// settleOverride is what to do so that the program uses the value it should.
func (s Subject) settleOverride(n int) string {
	remove := fmt.Sprintf("remove GOMAXPROCS=%s from its environment", s.env())
	switch {
	case s.Facts.EffectiveCPUs() == 0 || s.fits(*s.Live) && !s.fits(n):
		return remove
	case s.fits(*s.Live):
		return fmt.Sprintf("%s; if you want %s, remove the call instead", remove, s.env())
	case s.fits(n): // the variable is right, and the call has to go
		return fmt.Sprintf("change the program so that it keeps the GOMAXPROCS of its environment: it should be %s", s.env())
	case s.SetBy == SetByAuto:
		return fmt.Sprintf("set GOMAXPROCS=%d in its environment instead of %s, and change the program so that it keeps it", s.Fit.Procs, s.env())
	}
	return fmt.Sprintf("change its runtime.GOMAXPROCS call to use %d, and %s", s.Fit.Procs, remove)
}

// fits reports whether the value is the number of its CPUs, rounded down or up.
func (s Subject) fits(n int) bool {
	have := s.usable()
	return s.Facts.EffectiveCPUs() > 0 && n <= s.Fit.Procs && float64(n) >= math.Floor(have+1e-6)
}

package rule

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/number"
)

func checkTooMany(s Subject) []Finding {
	n, _ := s.Procs()
	if !s.tooMany() || s.Facts.EffectiveCPUs() == 0 || len(checkThousandths(s)) > 0 {
		return nil
	}
	source := "its affinity allows"
	if l, ok := s.Limit(); ok {
		source = "the limit of " + l.Dir + " grants"
	}
	f := Finding{Message: fmt.Sprintf("%s where %s %s", s.runs(n), source, number.CPUs(s.Facts.EffectiveCPUs()))}
	if s.Reserve > 0 {
		f.Message += ", " + number.Exact(s.Reserve) + " of them for others"
	}
	atFloor := s.Reserve == 0 && s.SetBy == SetByAuto && s.Fit.Procs == 1 && n == 2 && s.Go.Procs == 2
	switch {
	case atFloor:
		f.Severity = Info
		if s.readsLimit {
			f.Message += ": the runtime's default is never below 2"
		}
		f.Fix = fmt.Sprintf("procfit sweep --quota %s --procs 1,2 tells whether GOMAXPROCS=1 serves it better", number.Exact(s.Facts.EffectiveCPUs()))
	case s.SetBy == SetByEnv:
		f.Fix = s.insteadOfEnv()
	case s.SetBy == SetByAuto && n != s.Go.Procs:
		f.Message += "; " + s.wouldNow()
		f.Fix = s.restart()
	case s.SetBy == SetByAuto:
		f.Fix = s.setOrImport()
		// What makes the runtime choose so has a rule of its own, and the way out.
		for _, cause := range []func(Subject) []Finding{checkLimitsOff, checkOldGo, checkMissedMount, checkUnseenAncestor} {
			if found := cause(s); len(found) > 0 {
				f.Fix = found[0].Fix
				break
			}
		}
	case s.SetBy == SetByCode:
		f.Fix = fmt.Sprintf("find the call of runtime.GOMAXPROCS in it and let it take %d", s.Fit.Procs)
	default:
		f.Fix = fmt.Sprintf("find the call of runtime.GOMAXPROCS in it and let it take %d; if there is none, its limits changed: restart it", s.Fit.Procs)
	}
	return []Finding{f}
}

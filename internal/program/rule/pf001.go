package rule

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/number"
)

func tooManyPs() Rule {
	return Rule{
		ID:       "PF001",
		Title:    "more Ps than its CPUs can feed",
		Severity: Warning,
		Since:    "0.1",
		Why: `GOMAXPROCS is the number of threads that run Go code at once. Above the CPU
limit they spend the quota of a period sooner, and then all of them stand still
until the next: latency in steps of up to 100 ms, and a garbage collector that
takes its quarter of Ps, not of CPUs. Above the CPUs of the affinity they only
take turns.
The runtime never goes below 2 by itself, so a limit of one CPU or less is
exceeded by design; that is reported as info. A program that blocks on the disk
or in page faults may want more Ps than CPUs: a sweep proves it.`,
		Fix: `Leave GOMAXPROCS to a runtime that reads the limit (Go 1.25 with go 1.25 in
go.mod), import maxprocs/auto, or set the value in the environment.`,
		Check: checkTooMany,
	}
}

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

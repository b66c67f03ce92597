package rule

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

func checkTooMany(s Subject) []Finding {
	n, _ := s.Procs()
	if !s.tooMany() || s.Facts.EffectiveCPUs() == 0 || len(checkThousandths(s)) > 0 || s.Measured() || s.Meant {
		return nil
	}
	source := "it may run on only"
	if l, ok := s.Limit(); ok {
		source = "the limit of " + l.Dir + " allows"
	}
	atFloor := s.Reserve == 0 && s.Fit.Procs == 1 && n == 2 && s.Unset() == 2 && (s.SetBy == SetByAuto && s.Go.Procs == 2 || s.SetBy == SetByOutside)
	least := phrase.If(atFloor && s.SetBy == SetByAuto && s.readsLimit, ", the least that the runtime chooses by itself", "")
	f := Finding{Message: fmt.Sprintf("%s%s, but %s %s", s.Uses(n), least, source, number.CPUs(s.Facts.EffectiveCPUs()))}
	if s.Reserve > 0 {
		f.Message += ", " + number.Exact(s.Reserve) + " of them reserved for others"
	}
	if atFloor {
		f.Severity = Info
	}
	switch {
	case s.SetBy == SetByOutside, s.Lent() != "":
		f.Fix = s.afterOutside()
	case atFloor:
		f.Fix = s.setEnv() + "; to measure first whether that is better: " + s.measure("1,2")
	case s.SetBy == SetByEnv:
		f.Fix = s.insteadOfEnv()
	case s.SetBy == SetByAuto && n != s.Go.Procs && !s.MissesLimit():
		f.Message += "; " + s.wouldNow()
		f.Fix = s.restart()
	case s.SetBy == SetByAuto:
		f.Fix = s.setOrImport()
		// The cause has a rule of its own, with the fix.
		for _, cause := range []func(Subject) []Finding{checkMissedMount, checkLimitsOff, checkOldGo, checkUnseenAncestor} {
			if found := cause(s); len(found) > 0 {
				f.Fix = found[0].Fix
				break
			}
		}
	case s.SetBy == SetByCode && s.automaxprocsActs():
		f.Fix = s.setEnv() + ", which automaxprocs never overrides"
	case s.SetBy == SetByCode:
		f.Fix = s.orOutside(fmt.Sprintf("change its runtime.GOMAXPROCS call to use %d", s.Fit.Procs))
	case s.aboveItsLimit():
		f.Fix = fmt.Sprintf("change its runtime.GOMAXPROCS call to use %d; if it has none, its runtime does not see the limit: %s", s.Fit.Procs, s.setEnv())
	default:
		f.Fix = fmt.Sprintf("change its runtime.GOMAXPROCS call to use %d; if it has none, its limits have changed: restart it", s.Fit.Procs)
	}
	if s.holds() { // Ps beyond its CPUs can be what makes up for those
		f.Severity = Info
		f.Message += fmt.Sprintf("; page faults keep %s of its Ps waiting for the disk", s.Faults.of(n))
		f.Fix = fmt.Sprintf("unless a sweep has shown that %d is better, %s", n, f.Fix)
	} else {
		f.Now = s.now()
	}
	return []Finding{f}
}

func checkTooFew(s Subject) []Finding {
	n, known := s.Procs()
	have := s.usable()
	// The millionth allows for rounding in quota ÷ period.
	if s.Written != nil && len(s.Facts.Limits) == 0 {
		return nil // the file has a limit that is not known, or another file may have one
	}
	if !known || !s.sized() || len(s.Facts.Unknown()) > 0 || float64(n) >= math.Floor(have+1e-6) || s.Measured() || s.Shared || s.Meant {
		return nil
	}
	unless := fmt.Sprintf("unless a sweep has shown that %d is enough, ", n)
	f := Finding{
		Message: fmt.Sprintf("%s, but could use %s", s.Uses(n), number.CPUs(have)),
		Fix:     unless + fmt.Sprintf("set GOMAXPROCS=%d", s.Fit.Procs),
	}
	switch {
	case s.Lent() != "":
		f.Fix = s.afterOutside()
	case s.SetBy == SetByOutside:
		f.Fix = unless + s.afterOutside()
	case s.SetBy == SetByCode && !s.automaxprocsActs(): // it overrides the environment
		f.Fix = unless + s.orOutside(fmt.Sprintf("change its runtime.GOMAXPROCS call to use %d", s.Fit.Procs))
	case s.SetBy == SetByEnv:
		f.Fix = unless + s.insteadOfEnv()
	case s.SetBy == SetByAuto && n != s.Go.Procs:
		f.Fix = s.restart()
	}
	return []Finding{f}
}

func checkFrozen(s Subject) []Finding {
	n, known := s.Procs()
	own := ownLimit(s.Facts)
	have := s.usable()
	if s.Measured() && s.Unset() != s.Expected.Procs || s.Shared || s.Meant || s.Lent() != "" {
		return nil // without the variable it would use the CPUs of those that share its limit
	}
	if s.Automaxprocs != "" && (s.Foreign || s.SetBy == SetByCode) {
		return nil // without the variable automaxprocs would fix the value, which PF007 reports
	}
	if !known || own == nil || !s.FollowsChanges() || s.tooMany() || s.Unset() < 1 || s.Unset() > s.Fit.Procs || float64(n) < math.Floor(have+1e-6) {
		return nil
	}
	var by, fix, now string
	switch s.SetBy {
	case SetByEnv:
		by, fix = fmt.Sprintf("GOMAXPROCS=%s in its environment", s.env()), "remove it"
		if s.Automaxprocs != "" {
			fix += " and the import of go.uber.org/automaxprocs"
		}
	case SetByCode:
		if s.Watches {
			return nil // the call may be one that follows the limit
		}
		by, fix = "a call of runtime.GOMAXPROCS", "remove the call"
		if _, overridden := s.Overridden(); overridden {
			fix += fmt.Sprintf(", and GOMAXPROCS=%s from its environment", s.env())
		}
	case SetByOutside:
		by, fix = outside, "restart it"
		if s.changeable() {
			now = fmt.Sprintf("procfit set %d auto", s.PID)
		}
		if _, overridden := s.Overridden(); overridden {
			fix = fmt.Sprintf("remove GOMAXPROCS=%s from its environment", s.env())
		}
	default:
		return nil
	}
	limit := fmt.Sprintf("the limit of %s (now %s)", own.Dir, number.CPUs(own.CPUs))
	message := fmt.Sprintf("%s fixes the value at %d: it will not follow %s", by, n, limit)
	if s.SetBy == SetByEnv && s.Written.fromLimit() {
		message = fmt.Sprintf("GOMAXPROCS=%d comes from limits.cpu: each new pod follows %s, but a pod that is resized in place keeps the value", n, limit)
	}
	f := Finding{
		Message: message,
		Fix:     fmt.Sprintf("%s: the runtime chooses %d by itself and follows the limit", fix, s.Unset()),
		Now:     now,
	}
	if n != s.Unset() {
		f.Fix += fmt.Sprintf("; both %d and %d are good values for %s", n, s.Unset(), number.CPUs(have))
	}
	return []Finding{f}
}

// ownLimit is the limit of the program's own cgroup, which is the one that the runtime
// reads; nil: it has none.
func ownLimit(f facts.Facts) *facts.Limit {
	own, found := f.Own()
	if !found || own.State != facts.Known {
		return nil
	}
	return &own
}

func checkAutomaxprocs(s Subject) []Finding {
	if s.Automaxprocs == "" || !s.FollowsChanges() {
		return nil
	}
	if _, env := s.EnvProcs(); env || s.SetBy == SetByAuto {
		if s.Foreign {
			return nil // it does no harm
		}
		return []Finding{{
			Severity: Info,
			Message:  s.linked() + ", but it does nothing here",
			Fix:      "remove the import of go.uber.org/automaxprocs: if it finds a limit, " + s.goName() + " no longer follows its changes",
		}}
	}
	f := Finding{
		Message: fmt.Sprintf("%s: after it sets the value, %s no longer follows changes of the limit", s.linked(), s.goName()),
		Fix:     s.withoutAutomaxprocs(),
	}
	if s.Foreign {
		f.Severity = Info
		f.Fix = "nothing to do while its limit stays the same; after a change, restart it, or set GOMAXPROCS in its environment, which automaxprocs never overrides"
	}
	return []Finding{f}
}

// linked is what is known of automaxprocs in the program.
func (s Subject) linked() string {
	if s.Required {
		return fmt.Sprintf("go.mod requires go.uber.org/automaxprocs %s, which a program links in if it imports it", s.Automaxprocs)
	}
	return fmt.Sprintf("go.uber.org/automaxprocs %s is linked in", s.Automaxprocs)
}

// withoutAutomaxprocs is its removal, with the value that follows.
func (s Subject) withoutAutomaxprocs() string {
	const remove = "remove the import of go.uber.org/automaxprocs"
	n := s.Unset()
	switch {
	case !s.sized() || s.Facts.Env.State == facts.Unreadable: // what it will be is not known
		return remove
	case n == 0:
		return s.setEnv() + ": the runtime also crashes at start without automaxprocs"
	case n != s.Fit.Procs && s.Reserve > 0:
		return fmt.Sprintf("call %s instead, which chooses %d; the runtime by itself chooses %s", s.setWithReserve(), s.Fit.Procs, value(n))
	case n == 2 && s.Fit.Procs == 1:
		return s.leastOfRuntime(remove)
	case n != s.Fit.Procs:
		return fmt.Sprintf("import github.com/procfit/procfit/maxprocs/auto instead, which chooses %d; the runtime by itself chooses %s", s.Fit.Procs, value(n))
	}
	return fmt.Sprintf("%s: the runtime then chooses %d", remove, n)
}

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
		f.Message = `GOMAXPROCS is set but empty in the environment: the runtime ignores it, but automaxprocs then does nothing`
		f.Fix = "remove it"
	}
	return []Finding{f}
}

func checkOverridden(s Subject) []Finding {
	n, overridden := s.Overridden()
	if !overridden {
		return nil
	}
	by := "a call of runtime.GOMAXPROCS overrides it, in the program or by procfit set"
	switch s.SetBy {
	case SetByAuto:
		by = "its runtime is back at its own default, as after a call of runtime.SetDefaultGOMAXPROCS or procfit set auto"
	case SetByOutside:
		by = outside + " overrides it" + cmp.Or(s.Lent(), " until a restart")
	}
	f := Finding{
		Message: fmt.Sprintf("%s, but its environment sets GOMAXPROCS=%s, which has no effect: %s", s.Uses(*s.Live), s.env(), by),
		Fix:     s.fixOverride(n),
	}
	if s.Facts.EffectiveCPUs() > 0 && !s.Good() {
		f.Now = s.now()
	}
	return []Finding{f}
}

// fixOverride is what to do so that the program uses the value it should.
func (s Subject) fixOverride(n int) string {
	remove := fmt.Sprintf("remove GOMAXPROCS=%s from its environment", s.env())
	switch {
	case s.SetBy == SetByOutside:
		return s.afterOutside()
	case s.Facts.EffectiveCPUs() == 0 || s.Good() && !s.fits(n):
		return s.orOutside(remove)
	case s.Good():
		return fmt.Sprintf("%s; if you want %s, remove the call instead", remove, s.env())
	case s.fits(n): // the variable is right, and the call has to go
		return s.orOutside(fmt.Sprintf("change the program so that it keeps the GOMAXPROCS of its environment: it should be %s", s.env()))
	case s.SetBy == SetByAuto:
		return fmt.Sprintf("set GOMAXPROCS=%d in its environment instead of %s, and remove calls of runtime.SetDefaultGOMAXPROCS from the program, if it has one", s.best(), s.env())
	}
	return s.orOutside(fmt.Sprintf("change its runtime.GOMAXPROCS call to use %d, and %s", s.best(), remove))
}

// fits reports whether the value is the measured one, or without that the number of its CPUs,
// rounded down or up.
func (s Subject) fits(n int) bool {
	if s.Measured() {
		return n == s.Expected.Procs
	}
	have := s.usable()
	return s.Facts.EffectiveCPUs() > 0 && n <= s.Fit.Procs && float64(n) >= math.Floor(have+1e-6)
}

// Good reports whether the value is known and one that no rule about values asks to change: it
// is meant, it fits, or it is lower, under a limit that other programs use, too.
func (s Subject) Good() bool {
	n, known := s.Procs()
	return known && (s.Meant || s.fits(n) || s.Shared && !s.tooMany() && !s.Measured())
}

package rule

import (
	"cmp"
	"fmt"
	"go/version"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

// modern is what the newest runtime with its default settings would choose here without
// the environment; 0: it would crash.
func (s Subject) modern() int { return s.modernOf("") }

// modernOf is the same for a release; empty: the newest.
func (s Subject) modernOf(version string) int {
	f := s.Facts
	f.GoVersion, f.DefaultGODEBUG = version, ""
	f.Env = facts.Fact{State: facts.Absent}
	f.GODEBUG = f.Env
	return facts.Decide(f, facts.Go{}).Procs
}

// goThatReads is the oldest release that reads limits and chooses here what the newest
// would choose: Go 1.25 misses the limit in some mounts.
func (s Subject) goThatReads() string {
	if s.modernOf("go1.25") == s.modern() {
		return "1.25"
	}
	return "1.26"
}

// setOrImport is the fix if no runtime chooses the recommended value.
func (s Subject) setOrImport() string {
	if s.Foreign {
		return s.setEnv()
	}
	if s.Reserve > 0 {
		return s.setEnv() + ", or call " + s.setWithReserve()
	}
	return s.setEnv() + ", or import github.com/procfit/procfit/maxprocs/auto"
}

// setWithReserve is the function of the library that does what an import alone cannot.
func (s Subject) setWithReserve() string {
	return fmt.Sprintf("Set of github.com/procfit/procfit/maxprocs with Reserve(%s)", number.Exact(s.Reserve))
}

func (s Subject) setEnv() string { return setEnvTo(s.Fit.Procs) }

func setEnvTo(n int) string { return fmt.Sprintf("set GOMAXPROCS=%d in its environment", n) }

// AfterRestart is what becomes of a value that was set in a running program, a number or that
// the runtime chooses, and how it is made to last.
func (s Subject) AfterRestart(n int, auto bool) string {
	const keep = "a restart forgets it; to keep it: "
	had, env := s.EnvProcs()
	chosen := auto || s.Automaxprocs == "" && n == s.Unset()
	switch {
	case !auto && env && n == had:
		return fmt.Sprintf("a restart keeps it: GOMAXPROCS=%s is in its environment", s.env())
	case chosen && env:
		return fmt.Sprintf("%sremove GOMAXPROCS=%s from its environment", keep, s.env())
	case chosen && s.Automaxprocs != "":
		return keep + "remove the import of go.uber.org/automaxprocs"
	case chosen && s.SetBy == SetByCode:
		return keep + "remove the call of runtime.GOMAXPROCS in the program, if procfit set did not make it"
	case chosen:
		return "a restart keeps it, unless the program sets another: its runtime chooses the same"
	case env:
		return fmt.Sprintf("%s%s instead of %s", keep, setEnvTo(n), s.env())
	}
	return keep + setEnvTo(n)
}

// outside is what set a value that no code of the program can have set.
const outside = "something outside the program (procfit set, a debugger)"

// afterOutside is the fix where a value was set from outside: what the program is started with
// decides again after a restart.
func (s Subject) afterOutside() string {
	n, env := s.EnvProcs()
	switch {
	case s.Lent() != "":
		return "nothing to do: procfit lends this value" + s.Lent() + ", and then gives the old one back"
	case env && n == s.best():
		return fmt.Sprintf("restart it: GOMAXPROCS=%s is in its environment", s.env())
	case env:
		return s.insteadOfEnv()
	case s.Unset() == s.best():
		return fmt.Sprintf("restart it: its runtime then chooses %d", s.Unset())
	case s.Measured():
		return setEnvTo(s.best())
	}
	return s.setOrImport()
}

// orOutside is a fix for a call of runtime.GOMAXPROCS of which it is not known whether the
// program makes it, with the fix if it does not.
func (s Subject) orOutside(fix string) string {
	outside := s.afterOutside()
	if _, env := s.EnvProcs(); !env || !s.changeable() || s.Automaxprocs != "" || strings.HasPrefix(outside, fix) {
		return fix
	}
	return fix + "; if procfit set made the call: " + outside
}

// changeable reports whether procfit can change the value of the running program. Go code that
// another program has mapped is not changed.
func (s Subject) changeable() bool {
	return s.Live != nil && s.LiveSource != "" && s.PID != 0 && s.Mapped == ""
}

// now is the command that gives a running program the recommended value; empty: there is none.
func (s Subject) now() string {
	if !s.changeable() || s.Lent() != "" || s.behind() { // a call would end the following
		return ""
	}
	return fmt.Sprintf("procfit set %d %d", s.PID, s.best())
}

// measure is the command that compares values for this program: in the process, or started again.
func (s Subject) measure(values string) string {
	if s.changeable() {
		return fmt.Sprintf("procfit live %d --procs %s", s.PID, values)
	}
	limit := ""
	if l, ok := s.Limit(); ok {
		limit = " --limit " + number.Exact(l.CPUs)
	}
	return fmt.Sprintf("procfit sweep%s --procs %s -- COMMAND", limit, values)
}

// insteadOfEnv is the fix for a bad value in the environment. Without the variable the
// runtime chooses, or automaxprocs, whose choice cannot be predicted here.
func (s Subject) insteadOfEnv() string {
	if n := s.Unset(); s.Automaxprocs == "" && n == s.best() {
		fix := fmt.Sprintf("remove GOMAXPROCS=%s from its environment: the runtime then chooses %s", s.env(), value(n))
		if s.FollowsChanges() && ownLimit(s.Facts) != nil {
			fix += " and follows the limit"
		}
		return fix
	}
	fix := fmt.Sprintf("%s instead of %s", setEnvTo(s.best()), s.env())
	if s.Automaxprocs == "" {
		fix += "; " + s.withoutEnv()
	}
	return fix
}

// restart is the fix if the runtime would choose another value now.
func (s Subject) restart() string {
	fix := "restart it: its CPUs have changed since it started"
	if s.behind() {
		fix = "look again in a minute, since its runtime follows its CPUs by itself, and an idle one is slow; if it still uses the old value, " + fix
	}
	if s.Automaxprocs != "" {
		// It may find a limit now where it found none when the program started.
		if n := facts.Decide(s.Facts, facts.Automaxprocs{Language: s.Language, Release: s.Automaxprocs}).Procs; n > 0 && !s.fits(n) {
			return fmt.Sprintf("%s; without it, automaxprocs would choose %s after a restart", s.setEnv(), value(n))
		}
	}
	switch n := s.Go.Procs; {
	case n == s.Fit.Procs:
		return fix
	case s.Go.Outcome == facts.Dies:
		return s.setEnv() + ": without it, it crashes after a restart"
	case n == 2 && s.Fit.Procs == 1 && s.Reserve == 0:
		return s.leastOfRuntime(fix)
	default:
		return fmt.Sprintf("%s; after a restart it would choose %d", s.setOrImport(), n)
	}
}

// orElse is a fix that leads to a runtime that reads the limit and then chooses n, if n
// is the recommended value. Under the tighter limit of a parent cgroup it is not.
func (s Subject) orElse(fix string, n int) string {
	switch {
	case !s.seesMachine() || n <= s.Fit.Procs:
		return fix
	case n == 2 && s.Reserve == 0:
		return s.leastOfRuntime(fix)
	}
	return fmt.Sprintf("%s; a runtime that reads the limit of its own cgroup would still choose %s", s.setOrImport(), value(n))
}

// leastOfRuntime explains why a fix leads to 2 where 1 is recommended.
func (s Subject) leastOfRuntime(fix string) string {
	return fix + "; the runtime then chooses 2, its minimum under a limit: for 1, set GOMAXPROCS=1 in its environment"
}

// FollowsChanges reports whether its runtime, if nothing else sets the value, follows the
// limit also when that changes: updates can be switched off by GODEBUG, and are for modules
// with a go line below 1.25.
func (s Subject) FollowsChanges() bool { return s.readsLimit && s.updates() }

func (s Subject) updates() bool {
	updates := s.Language == "" || facts.Go{Language: s.Language}.ReadsLimit(facts.Facts{})
	for _, settings := range []string{s.Facts.DefaultGODEBUG, s.Facts.GODEBUG.Raw} {
		for _, setting := range strings.Split(settings, ",") {
			if v, ok := strings.CutPrefix(strings.TrimSpace(setting), "updatemaxprocs="); ok {
				updates = v != "0"
			}
		}
	}
	return updates
}

// wouldNow is what the runtime would do if it started now.
func (s Subject) wouldNow() string {
	if s.Go.Outcome == facts.Dies {
		return s.RuntimeName() + " would now crash at start"
	}
	return fmt.Sprintf("%s would now choose %d", s.RuntimeName(), s.Go.Procs)
}

// RuntimeName names the program's runtime in a sentence, or what takes its place.
func (s Subject) RuntimeName() string {
	switch {
	case s.Follows && len(s.Facts.Limits) > 0 && (!s.readsLimit || s.Go.Policy == facts.PolicyFit):
		return "maxprocs/auto"
	case s.Facts.GoVersion == "" && s.AnyMachine:
		return "the Go runtime" // a file has no version
	case s.Facts.GoVersion == "":
		return "the newest Go runtime"
	}
	return "the runtime of " + s.goName()
}

// goName is the program's Go release without suffixes of its version, or if that is not
// known, its runtime.
func (s Subject) goName() string {
	return cmp.Or(GoVersion(s.Facts.GoVersion), s.Facts.GoVersion, "its runtime")
}

// GoVersion is the one in what a toolchain calls itself, as in "go1.25.1 X:jsonv2" and
// "go1.24.6 (Red Hat 1.24.6-1.el9_6)"; empty: it names none.
func GoVersion(toolchain string) string {
	for field := range strings.FieldsSeq(toolchain) {
		if version.IsValid(field) {
			return field
		}
	}
	return ""
}

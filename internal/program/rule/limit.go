package rule

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

func checkLimitsOff(s Subject) []Finding {
	if !s.releaseReadsLimit || s.readsLimit || !limitMatters(s) {
		return nil
	}
	built := ""
	if s.Facts.GoVersion != "" {
		built = "built with " + s.goName() + ", but "
	}
	f := Finding{
		Message: fmt.Sprintf("%scontainermaxprocs=0 is compiled in, as with a go line below 1.25: it ignores CPU limits%s", built, s.unlessSet()),
		Fix:     s.orElse("go mod edit -go=1.25 in its main module, and build it "+s.again(), s.modern()),
	}
	if s.updates() { // a go line below 1.25 switches both off
		f.Message = fmt.Sprintf("%scontainermaxprocs=0 is compiled in: it ignores CPU limits%s", built, s.unlessSet())
		f.Fix = s.orElse("remove containermaxprocs=0 from the godebug lines of its go.mod and the //go:debug lines of its main package, and build it "+s.again(), s.modern())
	}
	switch {
	case s.Automaxprocs != "" && s.sized(): // it does nothing because of the variable
		f.Fix = s.setEnv()
	case s.Foreign:
		f.Fix = s.switchOn()
	}
	switch {
	case s.Facts.GODEBUG.State == facts.Known && strings.Contains(s.Facts.GODEBUG.Raw, "containermaxprocs"):
		f.Message = fmt.Sprintf("GODEBUG=%s in the environment makes %s ignore CPU limits", s.Facts.GODEBUG.Raw, s.goName())
		fix := "remove containermaxprocs from GODEBUG"
		without := s.Facts
		without.GODEBUG = facts.Fact{}
		if !(facts.Go{Language: s.Language}).ReadsLimit(without) { // what is linked in says the same
			fix = "write " + godebugOn + " in GODEBUG"
		}
		if again := s.again(); again != "again" {
			fix += ", and build it " + again
		}
		f.Fix = s.orElse(fix, s.modern())
	case s.Language != "":
		f.Message = fmt.Sprintf("go.mod says go %s, so %s ignores CPU limits", s.Language, s.goName())
		if s.Facts.GoVersion == "" {
			f.Message = fmt.Sprintf("go.mod says go %s, so the program ignores CPU limits, whichever Go release builds it", s.Language)
		}
		if path.Base(s.Path) == "go.mod" && s.Line > 0 {
			f.Edit = &Edit{Path: s.Path, Line: s.Line, Old: "go " + s.Language, New: "go 1.25"}
		}
	}
	return []Finding{f}
}

// again says what to build a program with after its settings are fixed: its own release
// may still miss the limit.
func (s Subject) again() string {
	if s.modernOf(s.Facts.GoVersion) == s.modern() {
		return "again"
	}
	return "with Go " + s.goThatReads() + " or newer"
}

// limitMatters reports whether ignoring the limit does harm: the current value is too
// high, neither the environment nor automaxprocs should have set it, and a runtime that
// reads the limit would choose less. For a program on disk it is assumed.
func limitMatters(s Subject) bool {
	if _, env := s.EnvProcs(); env {
		return false
	}
	if !s.seesMachine() || s.Written != nil && s.Written.Image {
		return !s.automaxprocsActs() && !s.Follows
	}
	n := s.modern()
	return s.tooMany() && s.SetBy == SetByAuto && n >= s.Fit.Procs && n < s.Go.Procs
}

// switchOn is the fix for users who cannot rebuild the program: GODEBUG in the
// environment overrides what is compiled in.
func (s Subject) switchOn() string {
	switched := s.Observed
	switched.Facts.GODEBUG = facts.Fact{State: facts.Known, Raw: godebugOn}
	n := NewSubject(switched).Unset()
	if s.seesMachine() && n > max(s.Fit.Procs, 2) { // its release misses the limit, or it is the limit of a parent
		return s.setEnv()
	}
	return s.orElse("set GODEBUG="+godebugOn+" in its environment, which overrides what is compiled in", n)
}

// godebugOn are the settings with which a runtime since Go 1.25 follows a limit.
const godebugOn = "containermaxprocs=1,updatemaxprocs=1"

func checkOldGo(s Subject) []Finding {
	l, limited := s.Limit()
	if s.releaseReadsLimit || !limited || !limitMatters(s) {
		return nil
	}
	fix := s.orElse("build it with Go "+s.goThatReads()+" or newer and go 1.25 in go.mod, or import github.com/procfit/procfit/maxprocs/auto", s.modern())
	old := ""
	if s.automaxprocsTooOld() {
		old = fmt.Sprintf("; go.uber.org/automaxprocs %s does not read it, v1.5.2 and later do", s.Automaxprocs)
	}
	if s.Foreign || s.Automaxprocs != "" { // which does nothing because of the variable, or is too old
		fix = s.setEnv()
	}
	return []Finding{{
		Message: fmt.Sprintf("%s ignores CPU limits, but there is one of %s (%s)%s%s", s.goName(), number.CPUs(l.CPUs), l.Dir, s.unlessSet(), old),
		Fix:     fix,
	}}
}

func checkUnseenAncestor(s Subject) []Finding {
	l, limited := s.Limit()
	own, found := s.Facts.Own()
	n, known := s.Procs()
	// The runtime's minimum of 2 has nothing to do with the parent.
	if !limited || !known || !s.readsLimit || s.SetBy != SetByAuto || found && l.Dir == own.Dir || n <= max(2, s.Fit.Procs) {
		return nil
	}
	its := "no limit"
	switch {
	case !found:
		its = "not found"
	case own.State == facts.Known:
		its = number.CPUs(own.CPUs)
	case own.State != facts.Absent && own.State != facts.NoLimit:
		its = string(own.State)
	}
	return []Finding{{
		Message: fmt.Sprintf("%s allows %s, but %s reads only the limit of its own cgroup (%s)", l.Dir, number.CPUs(l.CPUs), s.RuntimeName(), its),
		Fix:     s.setOrImport(),
	}}
}

func checkUnread(s Subject) []Finding {
	unknown := s.Facts.Unknown()
	if !s.seesMachine() && s.Facts.Affinity.State == "" || len(unknown) == 0 {
		return nil // no machine was looked at, or all of it was read
	}
	var all []Finding
	for i, what := range unknown {
		fix := "check the file in this message"
		switch denied := strings.Contains(what, fs.ErrPermission.Error()) || strings.Contains(what, syscall.EPERM.Error()); {
		case s.Recorded && i == 0 && s.Facts.Affinity.State == facts.Absent: // the first of what is unknown, without a file
			fix = "add proc/PID/status to the tree"
		case s.Recorded:
			fix = "add the file in this message to the tree, or correct it"
		case denied: // to root too, where it is root of a container or a security module decides
			fix = "run procfit as root of the machine, outside of containers"
		}
		if s.Facts.EffectiveCPUs() > 0 {
			fix += fmt.Sprintf("; until then %d is an upper bound", s.Fit.Procs)
		}
		all = append(all, Finding{Message: what, Fix: fix})
	}
	return all
}

// checkMissedMount asks the policy what the newest runtime would choose with the same
// mounts. Of a runtime that should find the limit there, the value shows that it does not.
func checkMissedMount(s Subject) []Finding {
	if s.MissesLimit() && s.tooMany() {
		return []Finding{{
			Message: fmt.Sprintf("%s does not see the limit of %s, or was idle since that was lowered: it follows a limit that it sees, and uses all %d CPUs", s.RuntimeName(), ownLimit(s.Facts).Dir, *s.Live),
			Fix:     "if it is still so in a minute, " + s.setEnv() + ": a restart does not help where a sandbox hides /proc/self/mountinfo or the files of the cgroup",
		}}
	}
	if !s.readsLimit || !s.tooMany() || s.SetBy != SetByAuto {
		return nil
	}
	newest := s.Facts
	newest.GoVersion = ""
	seen := s.goDecision(newest).Procs
	if seen < 1 || seen >= s.Go.Procs {
		return nil
	}
	where := "in the cgroup mounts here"
	if root := s.Facts.Cgroup.SeenRoot(); root != "/" {
		where = "in a cgroup mount whose root is " + root + " (golang/go#76390)"
	}
	fix := s.orElse("build it with Go 1.26 or newer", seen)
	if s.Foreign {
		fix = s.setEnv()
	}
	return []Finding{{
		Message: fmt.Sprintf("%s does not find the limit %s: it chooses %d instead of %d", s.RuntimeName(), where, s.Go.Procs, seen),
		Fix:     fix,
	}}
}

func checkDeadlyLimit(s Subject) []Finding {
	if s.Go.Outcome != facts.Dies || s.ProgramUnknown != "" {
		return nil
	}
	l := facts.Fact{}
	for _, c := range s.Go.Candidates {
		if c.Procs == 0 {
			l.File, l.Raw = c.File, c.Raw
		}
	}
	return []Finding{{
		Message: fmt.Sprintf("%s crashes at start because of %s: %q", s.RuntimeName(), l.File, strings.TrimSpace(l.Raw)),
		Fix:     s.setEnv() + ": the runtime then computes no default",
	}}
}

func checkTooOldForLimits(s Subject) []Finding {
	placed := s.seesMachine() && (s.Written == nil || !s.Written.Image)
	if placed || s.ProgramUnknown != "" || s.Facts.GoVersion == "" || s.releaseReadsLimit || s.automaxprocsActs() || s.Follows {
		return nil
	}
	if _, counts := s.EnvProcs(); counts {
		return nil
	}
	fix := "build it with Go 1.25 or newer and go 1.25 in go.mod, or import github.com/procfit/procfit/maxprocs/auto"
	if s.Foreign {
		fix = "set GOMAXPROCS wherever it has a CPU limit, or use a release of it that is built with Go 1.25 or newer"
	}
	return []Finding{{
		Message: fmt.Sprintf("%s ignores CPU limits: under a limit it uses all CPUs of its machine%s", s.goName(), s.unlessSet()),
		Fix:     fix,
	}}
}

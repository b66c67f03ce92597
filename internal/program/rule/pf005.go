package rule

import (
	"fmt"
	"path"
	"strings"

	"github.com/procfit/procfit/maxprocs/facts"
)

func checkLimitsOff(s Subject) []Finding {
	if !s.releaseReadsLimit || s.readsLimit || !limitMatters(s) {
		return nil
	}
	f := Finding{
		Message: fmt.Sprintf("built with %s, but containermaxprocs=0 is linked in, as for a go line below 1.25: it reads no CPU limit%s", s.goName(), s.unlessSet()),
		Fix:     s.orElse("go mod edit -go=1.25 in its main module, and build it "+s.again(), s.modern()),
	}
	if s.Foreign {
		f.Fix = s.switchOn()
	}
	switch {
	case s.Facts.GODEBUG.State == facts.Known && strings.Contains(s.Facts.GODEBUG.Raw, "containermaxprocs"):
		f.Message = fmt.Sprintf("GODEBUG=%s in the environment keeps %s from reading any CPU limit", s.Facts.GODEBUG.Raw, s.goName())
		fix := "remove containermaxprocs from GODEBUG"
		without := s.Facts
		without.GODEBUG = facts.Fact{}
		if !wouldReadLimit(without, s.Language) { // what is linked in says the same
			fix = "write containermaxprocs=1 in GODEBUG"
		}
		if again := s.again(); again != "again" {
			fix += ", and build it " + again
		}
		f.Fix = s.orElse(fix, s.modern())
	case s.Language != "":
		f.Message = fmt.Sprintf("go %s in go.mod keeps %s from reading any CPU limit", s.Language, s.goName())
		if path.Base(s.Path) == "go.mod" && s.Line > 0 {
			f.Edit = &Edit{Path: s.Path, Line: s.Line, Old: "go " + s.Language, New: "go 1.25"}
		}
	}
	return []Finding{f}
}

// again is with what to build a program whose settings were mended: its own release
// may miss the limit all the same.
func (s Subject) again() string {
	if s.modernOf(s.Facts.GoVersion) == s.modern() {
		return "again"
	}
	return "with Go " + s.goThatReads() + " or newer"
}

// limitMatters tells that not reading the limit does harm: the value in force is
// too high, neither the environment nor automaxprocs was to set it, and a runtime
// that reads the limit would choose less. Of a program on disk that is to be
// feared.
func limitMatters(s Subject) bool {
	if _, env := s.EnvProcs(); env {
		return false
	}
	if !s.seesMachine() || s.Written != nil && s.Written.Image {
		return s.Automaxprocs == ""
	}
	n := s.modern()
	return s.tooMany() && s.SetBy == SetByAuto && n >= s.Fit.Procs && n < s.Go.Procs
}

// switchOn is what who did not build a program can do: the environment's GODEBUG goes
// before what is linked in.
func (s Subject) switchOn() string {
	switched := s.Observed
	switched.Facts.GODEBUG = facts.Fact{State: facts.Known, Raw: godebugOn}
	n := NewSubject(switched).Unset()
	if s.seesMachine() && n > max(s.Fit.Procs, 2) { // its release misses the limit, or it is an ancestor's
		return s.setEnv()
	}
	return s.orElse("set GODEBUG="+godebugOn+" in its environment, which goes before what is linked in", n)
}

// godebugOn are the settings by which a runtime since Go 1.25 follows a limit.
const godebugOn = "containermaxprocs=1,updatemaxprocs=1"

package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

type doubt struct {
	may
	why string // a clause that follows "unless"
}

type may int

const (
	sets     may = iota // the variable, if the file does not
	replaces            // what the file sets, too
	counts              // it decides how many CPUs the runtime counts
)

func (u *unit) doubt(what may, format string, args ...any) {
	u.open = append(u.open, doubt{what, fmt.Sprintf(format, args...)})
}

// unless is why a unit's value is open, as clauses that follow "unless"; "": it is not.
func (u *unit) unless(s rule.Subject) string {
	_, byEnv := s.EnvProcs()
	chosen := !byEnv && u.env.state != facts.Unreadable && !u.written.Image // by the runtime
	var why []string
	if by := u.maySet(); by != "" {
		why = append(why, "the program sets GOMAXPROCS itself: "+by)
	}
	why = append(why, u.notRead(chosen)...)
	if chosen && len(u.limits) == 0 && u.cpus == 0 && len(why) == 0 {
		return "it has a CPU limit that is not in this file"
	}
	return phrase.Or(why)
}

// maySet is what in the program may set the value, in words; "": nothing is known to.
func (u *unit) maySet() string {
	if u.source.Guarded && u.env.isSet() {
		return u.program.MaySet
	}
	return cmp.Or(u.program.MaySet, u.source.Words)
}

// notRead is what may decide whatever the program does; chosen: the runtime chooses the value.
func (u *unit) notRead(chosen bool) (why []string) {
	for _, d := range u.open {
		open := d.may == replaces || d.may == sets && !u.env.isSet() || d.may == counts && chosen
		if open && !slices.Contains(why, d.why) {
			why = append(why, d.why)
		}
	}
	return why
}

// ofOpen are the rules that judge the value. What they find of an open one is not certain.
var ofOpen = []string{"PF001", "PF002", "PF003", "PF004", "PF005", "PF006", "PF008", "PF017", "PF018", "PF020", "PF021", "PF045", "PF060"}

// doubted makes a warning of an error about an open value, and says why.
func doubted(f rule.Finding, unless string) rule.Finding {
	if unless == "" || !slices.Contains(ofOpen, f.Rule) {
		return f
	}
	if f.Severity == rule.Error {
		f.Severity = rule.Warning
	}
	if said, has, _ := strings.Cut(f.Message, ", unless "); strings.HasPrefix(unless, has) {
		f.Message = said + ", unless " + unless
	} else if !strings.Contains(f.Message, unless) {
		f.Message += ", or " + unless
	}
	return f
}

func (c *Checker) strict(v check.Value, to check.Sink) {
	if c.o.Strict && v.Go && v.Open != "" {
		to.Finding(check.NewFinding("PF046", v.Place, "its GOMAXPROCS is open: "+v.Open,
			"add what decides it to the paths, or set GOMAXPROCS where nothing replaces it; if it is known not to change the value, suppress this finding with that reason"))
	}
}

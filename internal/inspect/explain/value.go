package explain

import (
	"errors"
	"fmt"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

// errNoValue means that a policy gives no number for a program.
var errNoValue = errors.New("there is no value")

// Value is the number of the policy that was asked for, or of fit.
func (e Explanation) Value() (int, error) {
	name := e.policy
	if name == "" {
		name = string(facts.PolicyFit)
	}
	for _, d := range e.decisions {
		if string(d.Policy) == name {
			return valueOf(e.subject, d)
		}
	}
	return 0, fmt.Errorf("%w: no policy %q", errNoValue, name)
}

// Unknown lists what could not be read, so that the value may be too high.
func (e Explanation) Unknown() []string { return e.subject.Facts.Unknown() }

func valueOf(s rule.Subject, d facts.Decision) (int, error) {
	switch {
	case d.Outcome == facts.Dies:
		return 0, fmt.Errorf("%w: with policy %s the runtime crashes at start because of the limit of its cgroup", errNoValue, d.Policy)
	case s.Facts.EffectiveCPUs() == 0:
		return 0, fmt.Errorf("%w: neither its affinity nor a limit is known", errNoValue)
	}
	return d.Procs, nil
}

// Setting is the GOMAXPROCS to put into the environment of a program before its start.
type Setting struct {
	Procs    int // GOMAXPROCS to set; 0: the environment stays as it is
	Why      string
	Steps    []string // to the number, if there is one
	Warnings []string
}

// Settle decides a Setting by a policy. Like the library, it keeps a valid value in the
// environment, unless it is forced. It sets nothing if the program's own runtime chooses
// the same value, because a value in the environment would end its updates.
func Settle(o rule.Observed, policy string, force bool) Setting {
	s := rule.NewSubject(o)
	had, counts := s.EnvProcs()
	if counts && !force {
		return Setting{Why: fmt.Sprintf("GOMAXPROCS=%d is in the environment and is kept", had)}
	}
	var out Setting
	if env := o.Facts.Env; env.State == facts.Known {
		if !counts && env.Raw != "" {
			out.Warnings = append(out.Warnings, fmt.Sprintf("GOMAXPROCS=%s in the environment is not a positive whole number, so the runtime ignores it", phrase.Clip(fmt.Sprintf("%q", env.Raw), longestEnv)))
		}
		o.Facts.Env = facts.Fact{State: facts.Absent}
		s = rule.NewSubject(o)
	}
	d := New(newest(s, policy), "", policy).decisions[0]
	n, err := valueOf(s, d)
	if err != nil {
		out.Why = "its runtime chooses"
		out.Warnings = append(out.Warnings, fmt.Sprintf("GOMAXPROCS is not set: %v", err))
		return out
	}
	for _, u := range s.Facts.Unknown() {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%s; %d is an upper bound", phrase.Clean(u), n))
	}
	out.Steps = phrase.CleanAll(d.Reasons)
	if own, known := s.Procs(); known && own == n && !counts {
		out.Why = fmt.Sprintf("%s chooses %d by itself", s.RuntimeName(), n)
		return out
	}
	out.Procs, out.Why = n, fmt.Sprintf("%s chooses %d", d.Policy, n)
	return out
}

// newest is the Subject with the newest Go release instead of its own, for the policy go:
// what its own runtime chooses needs no setting.
func newest(s rule.Subject, policy string) rule.Subject {
	if policy != string(facts.PolicyGo) {
		return s
	}
	o := s.Observed
	o.Facts.GoVersion, o.Facts.DefaultGODEBUG, o.Language = "", "", ""
	return rule.NewSubject(o)
}

// longestEnv is the length at which a variable is cut, in characters.
const longestEnv = 40

package rule

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

// ErrNoValue means that a policy gives no number for a program.
var ErrNoValue = errors.New("there is no value")

// Policies returns the names of the policies that a user can choose from.
func Policies() []string { return []string{"go", "fit", "automaxprocs", "jvm"} }

// Decisions are those of the Policies, in their order.
func (s Subject) Decisions() []facts.Decision {
	return []facts.Decision{
		s.Go,
		s.Fit,
		facts.Decide(s.Facts, facts.Automaxprocs{Language: s.Language, Release: s.Automaxprocs}),
		facts.Decide(s.Facts, facts.JVM{}),
	}
}

// ValueOf is the number that a policy has decided for it, if there is one.
func (s Subject) ValueOf(d facts.Decision) (int, error) {
	switch {
	case d.Outcome == facts.Dies:
		return 0, fmt.Errorf("%w: with policy %s the runtime crashes at start because of the limit of its cgroup", ErrNoValue, d.Policy)
	case s.Facts.EffectiveCPUs() == 0:
		return 0, fmt.Errorf("%w: neither its affinity nor a limit is known", ErrNoValue)
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

// Decide chooses a Setting by a policy. Like the library, it keeps a valid value in the
// environment, unless it is forced. It sets nothing if the program's own runtime chooses
// the same value, because a value in the environment would end its updates.
func Decide(o Observed, policy string, force bool) Setting {
	s := NewSubject(o)
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
		s = NewSubject(o)
	}
	list := newest(s, policy).Decisions()
	d := list[slices.IndexFunc(list, func(d facts.Decision) bool { return string(d.Policy) == policy })]
	n, err := s.ValueOf(d)
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
func newest(s Subject, policy string) Subject {
	if policy != string(facts.PolicyGo) {
		return s
	}
	o := s.Observed
	o.Facts.GoVersion, o.Facts.DefaultGODEBUG, o.Language = "", "", ""
	return NewSubject(o)
}

// checkVariable is PF003. Some programs read the variable themselves, such as "2000m" as two CPUs,
// and call runtime.GOMAXPROCS with what it means. The severity is what is known of that: an info where
// the code of a process set the value that the variable means, a warning where the program is not seen,
// as in a file, and an error where it does not.
func checkVariable(s Subject) []Finding {
	found := checkIgnoredEnv(s)
	cpus, err := number.ParseCPUs(s.Facts.Env.Raw)
	if err != nil {
		return found
	}
	for i := range found {
		switch f := &found[i]; {
		case s.Live == nil:
			f.Severity = Warning
			f.Message += ", unless the program itself reads it as CPUs"
		case (s.SetBy == SetByCode || s.SetBy == SetByUnknown) && meant(*s.Live, cpus):
			f.Severity = Info
			f.Message = fmt.Sprintf("GOMAXPROCS=%q is not a number that %s accepts; the program uses %d, which it means, so its own code seems to read it", s.env(), s.RuntimeName(), *s.Live)
			f.Fix = fmt.Sprintf("nothing to do while the program reads it; GOMAXPROCS=%d works without that", *s.Live)
		case s.SetBy == SetByAuto:
			f.Message += fmt.Sprintf("; the program does not read it either: its runtime chose %d", *s.Live)
		default:
			f.Message += fmt.Sprintf("; the program does not read it either: it uses %d", *s.Live)
		}
	}
	return found
}

// meant reports whether a GOMAXPROCS is a number of CPUs, rounded down or up.
func meant(procs int, cpus float64) bool {
	return procs == int(max(1, math.Floor(cpus))) || float64(procs) == math.Ceil(cpus)
}

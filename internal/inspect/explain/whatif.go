package explain

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

// WhatIf replaces facts that were read. Fields that are nil or empty replace nothing.
type WhatIf struct {
	CPUs      *int
	Limits    []facts.Limit // of its own cgroup first, see ParseLimits
	LimitText string        // as the user wrote it
	Env       *string       // byDefault, nil: none
	GoVersion string
	Language  string // the go line of go.mod

	// Reserve is the number of CPUs reserved for others under the same limit. It changes
	// the recommended value, not the program.
	Reserve float64
}

// byDefault, as WhatIf.Env, is an environment without GOMAXPROCS.
const byDefault = "default"

// String is the what-if as the user wrote it, to follow the name of a program.
func (w WhatIf) String() string {
	var words []string
	add := func(name, value string) { words = append(words, "--"+name+" "+value) }
	if w.CPUs != nil {
		add("cpus", strconv.Itoa(*w.CPUs))
	}
	if w.Limits != nil {
		add("limit", w.LimitText)
	}
	if w.Env != nil {
		add("gomaxprocs", strconv.Quote(*w.Env))
	}
	if w.GoVersion != "" {
		add("go", w.GoVersion)
	}
	if w.Language != "" {
		add("lang", w.Language)
	}
	if w.Reserve > 0 {
		add("reserve", strconv.FormatFloat(w.Reserve, 'g', -1, 64))
	}
	if len(words) == 0 {
		return ""
	}
	return " with " + strings.Join(words, " ")
}

// Apply makes the Subject that the what-if asks about. If anything changes, it is no
// longer the running program: it has no live value, and what the running one did with its
// own value and its own limit says nothing about it. Its code is the same.
func (w WhatIf) Apply(s rule.Subject) rule.Subject {
	o := s.Observed
	o.Reserve = w.Reserve
	if w.CPUs == nil && w.Limits == nil && w.Env == nil && w.GoVersion == "" && w.Language == "" {
		return rule.NewSubject(o)
	}
	o.SetsOwn = s.Automaxprocs == "" && (s.SetBy == rule.SetByCode || s.SetBy == rule.SetByUnknown && s.Live != nil && *s.Live != s.Go.Procs)
	o.Live, o.LiveSource, o.LiveUnknown = nil, "", ""
	o.Throttling, o.Faults, o.Together = nil, nil, nil
	f := &o.Facts
	if w.CPUs != nil {
		f.Affinity = facts.Fact{State: facts.Known, CPUs: float64(*w.CPUs), File: "--cpus"}
		f.Online = f.Affinity
	}
	if w.Limits != nil {
		o.Shared = false
		f.Limits = w.Limits
		f.Cgroup = facts.Cgroup{
			Fact: facts.Fact{State: facts.Known, File: "--limit", Raw: w.LimitText},
			Mode: facts.ModeV2, Version: 2, MountRoot: "/", RootSeen: true,
		}
	}
	if w.Env != nil {
		f.Env = facts.Fact{State: facts.Known, File: "--gomaxprocs", Raw: *w.Env}
		if *w.Env == byDefault {
			f.Env = facts.Fact{State: facts.Absent, File: "--gomaxprocs"}
		}
	}
	if w.GoVersion != "" {
		f.GoVersion, f.DefaultGODEBUG = "go"+strings.TrimPrefix(w.GoVersion, "go"), ""
		o.ProgramUnknown, o.NotGo = "", false
	}
	if w.Language != "" {
		o.Language, f.DefaultGODEBUG = strings.TrimPrefix(w.Language, "go"), ""
	}
	return rule.NewSubject(o)
}

// Nowhere is the start of a what-if for which nothing is read: no CPUs are known.
func Nowhere() rule.Subject {
	absent := facts.Fact{State: facts.Absent}
	return rule.NewSubject(rule.Observed{Facts: facts.Facts{
		Cgroup:  facts.Cgroup{Fact: absent, Mode: facts.ModeNone},
		Limits:  []facts.Limit{},
		Env:     absent,
		GODEBUG: absent,
	}})
}

// ParseLimits reads "20,1500m", limits in CPUs from a cgroup upwards, as a cpu.max with
// periods of 100 ms would hold them. "none" is a cgroup without a limit.
func ParseLimits(text string) ([]facts.Limit, error) {
	const period = 100_000 // microseconds
	var limits []facts.Limit
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		l := facts.Limit{Dir: ancestor(len(limits))}
		l.File = "--limit " + item
		if item == "none" {
			l.State, l.Raw = facts.NoLimit, fmt.Sprintf("max %d\n", period)
			limits = append(limits, l)
			continue
		}
		v, err := number.ParseCPUs(item)
		if errors.Is(err, number.ErrTooManyCPUs) {
			return nil, err
		}
		if err != nil || v < cgroup.MinQuota {
			return nil, fmt.Errorf("%q: expected CPUs of at least %g, such as 2.5 or 500m, or none; 20,1.5 is the program's own cgroup and its parent", item, cgroup.MinQuota)
		}
		quota := math.Round(v * period)
		l.State, l.CPUs, l.Raw = facts.Known, quota/period, fmt.Sprintf("%.0f %d\n", quota, period)
		limits = append(limits, l)
	}
	return limits, nil
}

// ancestor names a cgroup by its distance from the program's own.
func ancestor(up int) string {
	switch up {
	case 0:
		return "its own cgroup"
	case 1:
		return "its parent cgroup"
	}
	return fmt.Sprintf("its parent cgroup %d levels up", up)
}

// measured reports whether the value is the expected one: a policy that is asked for goes before it.
func (e Explanation) measured() bool { return e.policy == "" && e.subject.Measured() }

// Value is the recommended number: the measured one, or that of fit. If a policy was asked for, it
// is that of the policy.
func (e Explanation) Value() (int, error) {
	if e.measured() {
		return e.subject.Expected.Procs, nil
	}
	name := cmp.Or(e.policy, string(facts.PolicyFit))
	for _, d := range e.decisions {
		if string(d.Policy) == name {
			return e.subject.ValueOf(d)
		}
	}
	return 0, fmt.Errorf("%w: no policy %q", rule.ErrNoValue, name)
}

// Unknown lists what could not be read, so that the value may be too high.
func (e Explanation) Unknown() []string { return e.subject.Facts.Unknown() }

// Uncertain is what the value is while something is Unknown.
func (e Explanation) Uncertain(n int) string {
	if e.measured() {
		return fmt.Sprintf("whether the measured %d still holds is not known", n)
	}
	return fmt.Sprintf("%d is only an upper bound", n)
}

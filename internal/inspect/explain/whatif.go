package explain

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// WhatIf is what takes the place of facts that were read; what is nil or empty
// stays as it is.
type WhatIf struct {
	CPUs      *int
	Limits    []facts.Limit // its own group's first, see ParseLimits
	LimitText string        // as it was asked
	Env       *string       // unset: none
	GoVersion string
	Language  string // the go line of go.mod

	// Reserve are CPUs that are left to others in the same limit. They change what
	// fits, and nothing of the program.
	Reserve float64
}

// unset as WhatIf.Env is an environment without GOMAXPROCS.
const unset = "unset"

func (w WhatIf) any() bool {
	return w.CPUs != nil || w.Limits != nil || w.Env != nil || w.GoVersion != "" || w.Language != ""
}

// String is the what-if as it was asked, to follow the name of a program.
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

// Apply makes the Subject that the what-if asks about. One that is changed is no
// running program any more: its live value does not count.
func (w WhatIf) Apply(s rule.Subject) rule.Subject {
	o := s.Observed
	o.Reserve = w.Reserve
	if !w.any() {
		return rule.NewSubject(o)
	}
	o.Live, o.LiveSource, o.LiveUnknown = nil, "", ""
	f := &o.Facts
	if w.CPUs != nil {
		f.Affinity = facts.Fact{State: facts.Known, CPUs: float64(*w.CPUs), File: "--cpus"}
		f.Online = f.Affinity
	}
	if w.Limits != nil {
		f.Limits = w.Limits
		f.Cgroup = facts.Cgroup{
			Fact: facts.Fact{State: facts.Known, File: "--limit", Raw: w.LimitText},
			Mode: facts.ModeV2, Version: 2, MountRoot: "/", RootSeen: true,
		}
	}
	if w.Env != nil {
		f.Env = facts.Fact{State: facts.Known, File: "--gomaxprocs", Raw: *w.Env}
		if *w.Env == unset {
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

// Nowhere is where a what-if begins of which nothing is read: no CPUs are known.
func Nowhere() rule.Subject {
	absent := facts.Fact{State: facts.Absent}
	return rule.NewSubject(rule.Observed{Facts: facts.Facts{
		Cgroup:  facts.Cgroup{Fact: absent, Mode: facts.ModeNone},
		Limits:  []facts.Limit{},
		Env:     absent,
		GODEBUG: absent,
	}})
}

// ParseLimits reads "20,1500m", limits in CPUs from a group upwards, into what a
// cpu.max of 100 ms periods would hold. "none" is a group without a limit.
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
		v, err := cgroup.ParseCPUs(item)
		if err != nil || v < cgroup.MinQuota {
			return nil, fmt.Errorf("%q: expected CPUs of at least %g, such as 2.5 or 500m, or none; 20,1.5 is the program's own cgroup and its parent", item, cgroup.MinQuota)
		}
		quota := math.Round(v * period)
		l.State, l.CPUs, l.Raw = facts.Known, quota/period, fmt.Sprintf("%.0f %d\n", quota, period)
		limits = append(limits, l)
	}
	return limits, nil
}

// ancestor names a group by its distance from the program's own.
func ancestor(up int) string {
	switch up {
	case 0:
		return "its own group"
	case 1:
		return "its parent"
	}
	return fmt.Sprintf("its ancestor %d levels up", up)
}

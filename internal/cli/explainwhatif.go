package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/cgroup"
	"github.com/procfit/procfit/internal/rule"
	"github.com/procfit/procfit/maxprocs"
)

// whatIf is what takes the place of facts that were read.
type whatIf struct {
	cpus                int
	limit, env          string
	goVersion, language string

	hasCPUs, hasLimit, hasEnv bool // whether the flags are there: 0 and "" are values
}

func (w whatIf) any() bool {
	return w.hasCPUs || w.hasLimit || w.hasEnv || w.goVersion != "" || w.language != ""
}

// String is the what-if as it was asked, to follow the name of a program.
func (w whatIf) String() string {
	var words []string
	add := func(has bool, name, value string) {
		if has {
			words = append(words, "--"+name+" "+value)
		}
	}
	add(w.hasCPUs, "cpus", strconv.Itoa(w.cpus))
	add(w.hasLimit, "limit", w.limit)
	add(w.hasEnv, "env", strconv.Quote(w.env))
	add(w.goVersion != "", "go", w.goVersion)
	add(w.language != "", "lang", w.language)
	if len(words) == 0 {
		return ""
	}
	return " with " + strings.Join(words, " ")
}

// parse returns the change that the flags make to a Subject. One that is changed
// is no running program any more: its live value does not count.
func (w whatIf) parse() (change func(rule.Subject) rule.Subject, err error) {
	if w.hasCPUs && (w.cpus < 1 || w.cpus > math.MaxInt32) {
		return nil, usageError("--cpus %d: want a positive number of CPUs", w.cpus)
	}
	if err := (maxprocs.Go{Version: w.goVersion}).Check(); err != nil {
		return nil, usageError("--go: %w", err)
	}
	if err := (maxprocs.Go{Language: w.language}).Check(); err != nil {
		return nil, usageError("--lang: %w", err)
	}
	var limits []maxprocs.Limit
	if w.hasLimit {
		if limits, err = parseLimits(w.limit); err != nil {
			return nil, err
		}
	}
	return func(s rule.Subject) rule.Subject {
		if !w.any() {
			return s
		}
		s.Live, s.LiveSource, s.LiveUnknown = nil, "", ""
		f := &s.Facts
		if w.hasCPUs {
			f.Affinity = maxprocs.Fact{State: maxprocs.Known, CPUs: float64(w.cpus), File: "--cpus"}
			f.Online = f.Affinity
		}
		if w.hasLimit {
			f.Limits = limits
			f.Cgroup = maxprocs.Cgroup{
				Fact: maxprocs.Fact{State: maxprocs.Known, File: "--limit", Raw: w.limit},
				Mode: maxprocs.ModeV2, Version: 2, MountRoot: "/", RootSeen: true,
			}
		}
		if w.hasEnv {
			f.Env = maxprocs.Fact{State: maxprocs.Known, File: "--env", Raw: w.env}
			if w.env == "unset" {
				f.Env = maxprocs.Fact{State: maxprocs.Absent, File: "--env"}
			}
		}
		if w.goVersion != "" {
			f.GoVersion, f.DefaultGODEBUG = "go"+strings.TrimPrefix(w.goVersion, "go"), ""
			s.ProgramUnknown, s.NotGo = "", false
		}
		if w.language != "" {
			s.Language, f.DefaultGODEBUG = strings.TrimPrefix(w.language, "go"), ""
		}
		return rule.Decide(s)
	}, nil
}

// emptyMachine is where a what-if with --cpus begins: nothing is read.
func emptyMachine() rule.Subject {
	absent := maxprocs.Fact{State: maxprocs.Absent}
	return rule.Subject{Facts: maxprocs.Facts{
		Cgroup:  maxprocs.Cgroup{Fact: absent, Mode: maxprocs.ModeNone},
		Limits:  []maxprocs.Limit{},
		Env:     absent,
		GODEBUG: absent,
	}}
}

// parseLimits reads "20,1.5", limits in CPUs from a group upwards, into what a
// cpu.max of 100 ms periods would hold. "none" is a group without a limit.
func parseLimits(text string) ([]maxprocs.Limit, error) {
	const period = 100_000 // microseconds
	var limits []maxprocs.Limit
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		l := maxprocs.Limit{Dir: ancestor(len(limits))}
		l.File = "--limit " + item
		if item == "none" {
			l.State, l.Raw = maxprocs.NoLimit, fmt.Sprintf("max %d\n", period)
			limits = append(limits, l)
			continue
		}
		v, err := strconv.ParseFloat(item, 64)
		// Above 2^31 CPUs the quota in microseconds would leave the int64.
		if err != nil || !(v >= cgroup.MinQuota) || v > math.MaxInt32 {
			return nil, usageError("--limit %q: want CPUs as a number of at least %g, or none, as in 2.5 or 20,1.5", item, cgroup.MinQuota)
		}
		quota := math.Round(v * period)
		l.State, l.CPUs, l.Raw = maxprocs.Known, quota/period, fmt.Sprintf("%.0f %d\n", quota, period)
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

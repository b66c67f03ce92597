package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// describe is a session's plan and its cost in words.
func describe(s *session.Session) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s at GOMAXPROCS %s", s.Header.Name, arrangement(s), settings(s.Plan))
	if n := len(s.Plan.Groups()); n > 1 {
		fmt.Fprintf(&b, " in each of %d groups", n)
	}
	b.WriteString(": ")
	if s.Plan.Racing() {
		b.WriteString(race(s))
	} else {
		b.WriteString(grid(s))
	}
	fmt.Fprintf(&b, "; seed %d; results in %s", s.Plan.Seed, s.Dir)
	if short := unjudged(s); short != "" {
		fmt.Fprintf(&b, "; %s", short)
	}
	return b.String()
}

// grid is a grid's cost in words.
func grid(s *session.Session) string {
	var b strings.Builder
	tasks := s.Trials()
	if s.Spec.Target.Attach != nil {
		fmt.Fprintf(&b, "%s", phrase.Count(tasks, "trial"))
		if s.Done > 0 {
			fmt.Fprintf(&b, ", %d of them done", s.Done)
		}
		fmt.Fprintf(&b, ", about %s", number.Minutes(s.Each()*time.Duration(tasks-s.Done)))
		return b.String()
	}
	fmt.Fprintf(&b, "%s (%s of %s, one of them twice", phrase.Count(tasks, "trial"), phrase.Count(s.Plan.Blocks, "block"), phrase.Count(len(s.Plan.Settings), "setting"))
	if s.Plan.Pilots > 0 {
		fmt.Fprintf(&b, ", %s", phrase.Count(s.Plan.Pilots*len(s.Plan.AA), "pilot"))
	}
	b.WriteString(")")
	if s.Done > 0 {
		fmt.Fprintf(&b, ", %d of them done", s.Done)
	}
	if each := s.Each(); each > 0 {
		fmt.Fprintf(&b, ", about %s", number.Minutes(each*time.Duration(tasks-s.Done)))
	} else {
		b.WriteString("; the first trials will show how long it takes")
	}
	return b.String()
}

// settings are a plan's values of GOMAXPROCS, as --procs takes them.
func settings(p journal.Plan) string {
	list := labels(p)
	if p.Racing() && !p.Listed && len(list) > 2 {
		most := 0 // of the group that has the most
		for _, a := range p.Settings {
			if a.Procs != nil {
				most = max(most, *a.Procs)
			}
		}
		return fmt.Sprintf("unset, 1..%d", most)
	}
	return strings.Join(list, ", ")
}

// labels are those of a plan's settings, each once.
func labels(p journal.Plan) (list []string) {
	for _, a := range p.Settings {
		if !slices.Contains(list, a.Label) {
			list = append(list, a.Label)
		}
	}
	return list
}

// activity is what a Runner does, in words.
func activity(a plan.Activity) string {
	switch a.Step {
	case plan.StepOthers:
		return fmt.Sprintf("other programs use %.2g of the %s that the target may use: the trials lack what they take", a.CPUs, number.CPUs(a.OfCPUs))
	case plan.StepUnseen:
		return "here only throughput and latency are measured: the live GOMAXPROCS, the kernel's counters, quotas and lists of CPUs need Linux"
	case plan.StepArrange:
		return "two trials show how many CPUs of its own the load generator needs; --load-cpuset shared leaves it on the target's"
	case plan.StepUnjudged:
		return shortfall(*a.Shortfall)
	case plan.StepCompile:
		return "compiling " + a.Detail
	case plan.StepStart:
		return "starting"
	case plan.StepNode:
		return "waiting for node " + a.Detail + ", which is not ready"
	case plan.StepReady:
		return "waiting until it is ready"
	case plan.StepWarmup:
		return "warm-up"
	case plan.StepClosedLoop:
		return "closed loop"
	case plan.StepOpenLoop:
		return "open loop at " + number.Count(a.RatePerSecond) + " req/s"
	case plan.StepLoadCommand:
		return "load: " + a.Detail
	case plan.StepPrepare:
		return "preparing"
	case plan.StepNeighbour:
		return "starting the --beside command"
	case plan.StepRun:
		return "running"
	}
	return string(a.Step)
}

package page

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
)

// throttling words what stat found of limits.
func (g *group) throttling() document.Check {
	c := document.Check{Question: "Was the target throttled by a CPU limit?", State: document.Unknown, Answer: "unknown"}
	t := &g.Throttling
	var seen []string
	for i := range t.Settings {
		if a := &t.Settings[i]; a.Judged {
			seen = append(seen, fmt.Sprintf("%s: %s of periods%s", g.settingText(a.Label), number.Ratio().Number(a.Share), around(a)))
		}
	}
	c.Detail = strings.Join(seen, ", ")
	switch t.State {
	case verdict.ThrottledNo:
		c.State, c.Answer = document.OK, "no"
	case verdict.ThrottledHardly:
		c.State, c.Answer = document.OK, "hardly"
	case verdict.ThrottledYes:
		c.State, c.Answer = document.Attention, "yes"
	}
	switch {
	case len(seen) == 0 && t.State == verdict.ThrottledNo:
		c.Detail = "procfit set no CPU limit, and no parent cgroup has one"
	case len(seen) == 0 && g.QuotaCPUs != nil:
		c.Detail = "the throttling counters of the cgroup could not be read"
	case !t.OuterKnown:
		c.Detail = clauses(c.Detail, "it is unknown whether a limit on a parent cgroup throttled it")
	}
	if t.State == verdict.ThrottledYes || t.Advice == verdict.AdviceAvoid {
		c.Detail = clauses(c.Detail, words{g.Group, g.r}.throttlingAdvice())
	}
	return c
}

// around names a limit that the setting did not set.
func around(a *verdict.ThrottledSetting) string {
	if a.Own {
		return ""
	}
	return fmt.Sprintf(" of the limit of %s on the parent cgroup %s", number.CPUs(a.LimitCPUs), groupName(a.Group))
}

// groupName is a cgroup's, as far as there is room for it.
func groupName(group string) string { return phrase.Clip(phrase.Clean(group), 2*nameRoom) }

func clauses(list ...string) string {
	var all []string
	for _, s := range list {
		if s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, "; ")
}

// throttlingAdvice is what is to be done, the same in every place.
func (w words) throttlingAdvice() string {
	t := &w.group.Throttling
	limit := "the limit on the parent cgroup"
	if t.AdviceOwn {
		limit = "the CPU limit"
	}
	procs := 0
	if t.Procs != nil {
		procs = *t.Procs
	}
	switch t.Advice {
	case verdict.AdviceMeasured:
		return fmt.Sprintf("GOMAXPROCS %d is proven equally good or better: lower it to that before you raise %s", procs, limit)
	case verdict.AdviceAvoid:
		return fmt.Sprintf("keep GOMAXPROCS at %d, which is not throttled", procs)
	case verdict.AdviceLower:
		return fmt.Sprintf("lower GOMAXPROCS to %d before you raise %s", procs, limit)
	case verdict.AdviceRaise:
		return "raise " + limit + " if the program must be faster; GOMAXPROCS cannot help"
	case verdict.AdviceProven:
		return "raise " + limit + " if the program must be faster; a lower GOMAXPROCS is proven worse"
	}
	return ""
}

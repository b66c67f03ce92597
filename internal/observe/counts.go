package observe

import (
	"sync"

	"github.com/procfit/procfit/internal/procstat"
	"github.com/procfit/procfit/internal/rule"
	"github.com/procfit/procfit/maxprocs"
)

// total is what was counted from the beginning.
func total(l looked) Counts {
	c := counts(l.counts.Total())
	c.Latency, c.Throttling, c.Groups = l.latency, worst(l.groups), l.groups
	return c
}

// since is what was counted between two looks at one process.
func since(l, before looked) Counts {
	c := counts(l.counts.Since(before.counts))
	if l.latency != nil && before.latency != nil {
		span := l.latency.Since(before.latency)
		c.Latency = &span
	}
	var groups []rule.Throttling
	for _, now := range l.groups {
		for _, was := range before.groups {
			if now.Dir == was.Dir && now.Periods >= was.Periods {
				now.Periods -= was.Periods
				now.ThrottledPeriods = max(0, now.ThrottledPeriods-was.ThrottledPeriods)
				now.Throttled = max(0, now.Throttled-was.Throttled)
				now.Span = c.Span
				groups = append(groups, now)
			}
		}
	}
	c.Throttling = worst(groups)
	return c
}

func counts(u procstat.Use) Counts {
	return Counts{
		Span: u.Duration, CPU: u.User + u.System,
		Counted: u.Uncounted == 0, RunQueueWait: u.RunQueueWait, Voluntary: u.Voluntary, Involuntary: u.Involuntary,
	}
}

// worst is the group that was held back in the greatest share of its periods, of
// equal ones the nearest.
func worst(groups []rule.Throttling) *rule.Throttling {
	var t *rule.Throttling
	for i := range groups {
		if t == nil || groups[i].Ratio() > t.Ratio() {
			t = &groups[i]
		}
	}
	return t
}

// groups reads each group's throttling once a Scan: processes share them.
type groups struct {
	mu   sync.Mutex
	read map[string]groupReading
}

type groupReading struct {
	maxprocs.Throttling
	err error
}

func newGroups() *groups { return &groups{read: make(map[string]groupReading)} }

// of returns the throttling of the groups that have a limit, as far as it can be
// read.
func (g *groups) of(limits []maxprocs.Limit) []rule.Throttling {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []rule.Throttling
	for _, l := range limits {
		if l.State != maxprocs.Known {
			continue
		}
		r, ok := g.read[l.Dir]
		if !ok {
			r.Throttling, r.err = l.Throttling()
			g.read[l.Dir] = r
		}
		if r.err == nil {
			all = append(all, rule.Throttling{Dir: l.Dir, Throttling: r.Throttling})
		}
	}
	return all
}

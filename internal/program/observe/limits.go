package observe

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Limit is a cgroup with a CPU limit and how that has held its processes back.
type Limit struct {
	Dir              string // the group's
	CPUs             float64
	Burst            float64 // in CPUs of a period, see facts.Limit; 0: none
	facts.Throttling         // since the group was made
	Err              error   // why the throttling cannot be read, which is then 0
}

// Limits reads the limits around a process, whoever set them, from its own cgroup
// upwards to the topmost that can be seen from here. The error is ErrNoProcess,
// or says what could not be read, so that more limits may hold than are returned.
func Limits(pid int) ([]Limit, error) {
	f, err := new(facts.Reader).ReadPID(pid)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	return limitsOf(f)
}

// HiddenParents reports whether the cgroup may have parents that could not be seen, such as
// those outside a container. Their limits are not in the facts.
func HiddenParents(c facts.Cgroup) bool {
	return c.State == facts.Known && c.Version > 0 && !c.RootSeen
}

// LimitsKnown reports whether all limits that may be around a process could be read.
func LimitsKnown(f facts.Facts) bool {
	return !HiddenParents(f.Cgroup) && !rule.LimitsUnread(f)
}

func limitsOf(f facts.Facts) ([]Limit, error) {
	var err error
	if rule.Unread(f.Cgroup.Fact) {
		err = fmt.Errorf("process %d: the CPU limits around it are not known: %s", f.PID, f.Cgroup.Error)
	}
	var all []Limit
	for _, l := range f.Limits {
		switch {
		case l.State == facts.Known:
			one := Limit{Dir: l.Dir, CPUs: l.CPUs, Burst: l.Burst.CPUs}
			one.Throttling, one.Err = l.Throttling()
			all = append(all, one)
		case rule.Unread(l.Fact) && err == nil:
			err = fmt.Errorf("process %d: the CPU limit of %s is not known: %s", f.PID, l.Dir, l.Error)
		}
	}
	return all, err
}

// Reread reads the throttling of the same groups again, which takes a tenth of the
// time that Limits does and is fit for the beginning and the end of a phase.
func Reread(limits []Limit) []Limit {
	now := slices.Clone(limits)
	for i := range now {
		now[i].Throttling, now[i].Err = facts.ReadThrottling(now[i].Dir)
	}
	return now
}

// Since is how the cgroup was throttled since an earlier reading of the same group;
// false when it is another, was made again, or one of both was not readable.
func (l Limit) Since(before Limit) (facts.Throttling, bool) {
	if l.Err != nil || before.Err != nil || l.Dir != before.Dir {
		return facts.Throttling{}, false
	}
	return ThrottledSince(l.Throttling, before.Throttling)
}

// ThrottledSince is what a group counted between two readings; false where it was made
// again meanwhile.
func ThrottledSince(now, before facts.Throttling) (facts.Throttling, bool) {
	span := facts.Throttling{
		Periods:          now.Periods - before.Periods,
		ThrottledPeriods: now.ThrottledPeriods - before.ThrottledPeriods,
		Throttled:        now.Throttled - before.Throttled,
		Bursts:           now.Bursts - before.Bursts,
		Burst:            now.Burst - before.Burst,
	}
	return span, min(span.Periods, span.ThrottledPeriods, int64(span.Throttled), span.Bursts, int64(span.Burst)) >= 0
}

// total is what was counted from the beginning, throttling aside.
func total(l looked) Counts {
	c := counts(l.counts.Total())
	c.Latency = l.latency
	return c
}

// since is what was counted between two looks at one process, throttling aside.
func since(l, before looked) Counts {
	c := counts(l.counts.Since(before.counts))
	if l.latency != nil && before.latency != nil {
		c.Latency = new(l.latency.Since(before.latency))
	}
	return c
}

func counts(u procstat.Use) Counts {
	return Counts{
		Span: u.Duration, CPU: u.User + u.System,
		Counted: u.Uncounted == 0, RunQueueWait: u.RunQueueWait, Voluntary: u.Voluntary, Involuntary: u.Involuntary,
		MajorFaults: u.MajorFaults,
	}
}

// worst is the group that was throttled in the greatest share of its periods, of
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
	before map[string]groupReading // by directory, as of the Scan before
	at     time.Time               // of this one

	mu   sync.Mutex
	read map[string]groupReading
}

type groupReading struct {
	facts.Throttling
	err error
	at  time.Time
}

func newGroups(before map[string]groupReading, at time.Time) *groups {
	return &groups{before: before, at: at, read: make(map[string]groupReading)}
}

// of returns the throttling of the groups that have a limit since they were made,
// as far as it can be read.
func (g *groups) of(limits []facts.Limit) []rule.Throttling {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []rule.Throttling
	for _, l := range limits {
		if l.State != facts.Known {
			continue
		}
		r, ok := g.read[l.Dir]
		if !ok {
			r.at = g.at
			r.Throttling, r.err = l.Throttling()
			g.read[l.Dir] = r
		}
		if r.err == nil {
			all = append(all, rule.Throttling{Dir: l.Dir, Throttling: r.Throttling})
		}
	}
	return all
}

// since returns the same since the Scan before. A group that was not looked at
// then, or was made again, is left out.
func (g *groups) since(limits []facts.Limit) []rule.Throttling {
	var all []rule.Throttling
	for _, now := range g.of(limits) {
		was, ok := g.before[now.Dir]
		if !ok {
			continue
		}
		if now.Throttling, ok = ThrottledSince(now.Throttling, was.Throttling); !ok {
			continue
		}
		now.Span = g.at.Sub(was.at)
		all = append(all, now)
	}
	return all
}

// keptFor is how long the reading of a group lasts that is not read again.
const keptFor = 5 * time.Minute

// now is what was read, for the next Scan; and what was read earlier, where this one
// did not look at all processes.
func (g *groups) now(partly bool) map[string]groupReading {
	g.mu.Lock() // a look that hangs may go on after its Scan
	defer g.mu.Unlock()
	all := make(map[string]groupReading, len(g.read))
	if partly {
		for dir, r := range g.before {
			if g.at.Sub(r.at) < keptFor {
				all[dir] = r
			}
		}
	}
	for dir, r := range g.read {
		if r.err == nil {
			all[dir] = r
		} else {
			delete(all, dir)
		}
	}
	return all
}

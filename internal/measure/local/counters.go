package local

import (
	"slices"
	"time"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/verdict/journal"
)

type counters struct {
	run    *run
	fleet  fleet
	began  time.Time
	span   *observe.Span
	host   host
	groups []cgroup.Stats
	outer  []observe.Limit
	spell  quotaSpan
	err    error

	beside     *time.Duration // what the neighbour had used; nil: there is none
	collectors []followed
}

// count starts counting. outer are the limits around the target, from limitsAround.
func (r *run) count(f fleet, outer []observe.Limit) *counters {
	c := &counters{run: r, fleet: f, began: time.Now()}
	if r.sampler == nil {
		return c
	}
	if r.Setting.QuotaCPUs != nil {
		c.groups = f.throttling()
	}
	c.outer = observe.Reread(outer)
	c.spell = begin(slices.Concat(r.limited(f), r.neighbour.limited()))
	c.beside = r.neighbourCPU()
	c.collectors = r.follow(f)
	if c.host, c.err = r.readHost(); c.err == nil {
		c.span, c.err = r.sampler.Start(f.pids())
	}
	return c
}

// end is what was counted since; nil, with a warning, where that could not be.
// loadCPU is what a load outside of procfit used meanwhile.
func (c *counters) end(loadCPU time.Duration) *journal.Usage {
	u := &journal.Usage{MeasuredSeconds: time.Since(c.began).Seconds()}
	if c.run.sampler == nil {
		return u // which was said before the first trial
	}
	var use observe.Use
	if c.err == nil {
		c.span.Look(c.fleet.pids())
		if use = c.span.Delta(); c.run.spec.Target.Attach == nil { // else its older children, which are not looked at, would be added
			use = use.WithChildren()
		}
		ours := use.User + use.System
		if beside := c.run.neighbourCPUSince(c.beside); beside != nil {
			ours += *beside
			u.BesideCPUSeconds = new(beside.Seconds())
		}
		u.HostUse, c.err = c.run.hostSince(c.host, ours, loadCPU)
	}
	if c.err != nil {
		c.run.Uncounted(c.err)
		return nil
	}
	trial.Count(u, use)
	u.Cgroup = throttledSince(c.groups, c.fleet.throttling())
	u.OuterLimits = trial.LimitsSince(c.outer, observe.Reread(c.outer), func(dir string) string { return dir })
	u.Memory, u.GC = trial.MemoryOf(c.fleet.pids()), c.collected()
	return u
}

// throttling reads the accounting of every replica's group; nil where it cannot.
func (f fleet) throttling() []cgroup.Stats {
	var all []cgroup.Stats
	for _, one := range f {
		if one.group == nil {
			return nil
		}
		s, err := one.group.Stats()
		if err != nil {
			return nil
		}
		all = append(all, s)
	}
	return all
}

func throttledSince(before, after []cgroup.Stats) *journal.Cgroup {
	if before == nil || len(before) != len(after) {
		return nil
	}
	c := &journal.Cgroup{}
	for i, now := range after {
		span, _ := observe.ThrottledSince(now, before[i])
		c.Add(trial.Throttled(span))
	}
	return c
}

// limitsAround are the limits around the target that the setting did not set.
func (f fleet) limitsAround() []observe.Limit {
	var list []observe.Limit
	for _, one := range f {
		pid := 0
		switch {
		case one.attached != nil:
			pid = one.attached.PID
		case one.Process != nil:
			pid = one.PID()
		default:
			continue
		}
		limits, _ := observe.Limits(pid) // what cannot be read is not there to be reported
		for _, l := range limits {
			own := one.group != nil && l.Dir == one.group.Dir()
			if !own && !slices.ContainsFunc(list, func(have observe.Limit) bool { return have.Dir == l.Dir }) {
				list = append(list, l)
			}
		}
	}
	return list
}

// followed is the Go program of a replica, whose garbage collector is followed.
type followed struct {
	pid    int         // 0: none was found
	before *observe.GC // nil: it told nothing then
}

func (r *run) follow(f fleet) []followed {
	list := make([]followed, len(f))
	for i, one := range f {
		list[i].pid = one.program
		if gc, err := r.reader.GC(one.program); err == nil {
			list[i].before = &gc
		}
	}
	return list
}

// collected is what all of them did since; nil where that of one is not known.
func (c *counters) collected() *journal.GC {
	list := make([]*journal.GC, len(c.collectors))
	for i, one := range c.collectors {
		if one.pid == 0 {
			continue
		}
		gc, err := c.run.reader.GC(one.pid)
		if err != nil {
			continue
		}
		if span, ok := gc.Since(one.before, c.began); ok {
			list[i] = new(trial.GCOf(span, time.Since(c.began)))
		}
	}
	return trial.SumAll(list, (*journal.GC).Add)
}

// rarely is how far apart looks at a batch program are before its collector is looked
// at too, which must be searched for until it has run.
const rarely = 20 * time.Millisecond

// passing is what is seen of a batch program while it runs: as of the last look.
type passing struct {
	peak    int64         // bytes, of all processes at once
	replica []*journal.GC // nil: it is not known
}

// look reads the memory and the collectors of the replicas that still run. They started
// at started: all that a collector ever did is of this run, even where so much has passed
// that the runtime no longer knows when its first cycle ended (256 cycles, which a program
// that allocates much has behind it in 50 ms).
func (p *passing) look(r *run, f fleet, began time.Time, pause time.Duration) {
	if p.replica == nil {
		p.replica = make([]*journal.GC, len(f))
	}
	var all []int
	for i, one := range f {
		if one.ended() {
			continue
		}
		pids := one.pids()
		all = append(all, pids...)
		if pause < rarely {
			continue
		}
		pid, err := r.reader.FindGo(pids)
		if err != nil {
			continue
		}
		if gc, err := r.reader.GC(pid); err == nil {
			p.replica[i] = new(trial.GCOf(gc, time.Since(began)))
		}
	}
	if m, ok := observe.MemoryOf(all); ok {
		p.peak = max(p.peak, m.Peak)
	}
}

func (p *passing) record(u *journal.Usage) {
	if p.peak > 0 {
		u.Memory = &journal.Memory{PeakRSSBytes: p.peak}
	}
	u.GC = trial.SumAll(p.replica, (*journal.GC).Add)
}

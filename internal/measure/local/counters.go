package local

import (
	"cmp"
	"context"
	"os"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/host/topology"
	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/measure/plan"
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
		var now host
		if now, c.err = c.run.readHost(); c.err == nil {
			u.HostUse = c.run.hostSince(c.host, now, ours, loadCPU)
		}
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
		list[i] = trial.Collected(&c.run.reader, one.pid, one.before, c.began)
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
// at began: all that a collector ever did is of this run, even where so much has passed
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

// host is a reading of the machine.
type host struct {
	at      time.Time
	machine observe.CPU   // all CPUs
	cpus    observe.CPU   // those that the target may use
	self    time.Duration // CPU time of procfit itself
	ended   time.Duration // of its children that have ended, with all that was theirs
	heat    int64         // how often the target's CPUs were too hot; -1: not known
}

func (r *runner) readHost() (h host, err error) {
	h.at, h.self, h.ended, h.heat = time.Now(), ownCPU(), endedCPU(), -1
	if n, known := topology.Heat(os.DirFS("/sys"), r.cpus); known {
		h.heat = n
	}
	if h.machine, err = observe.CPUTime(); err == nil {
		h.cpus, err = observe.CPUTime(r.cpus...)
	}
	return h, err
}

const (
	othersTime = 300 * time.Millisecond
	company    = 0.1 // of the target's CPUs: from then on, others are reported before anything is measured
)

// Matter reports whether what other programs use is worth a word before anything is measured.
func Matter(o plan.Others) bool { return o.CPUs >= company*o.OfCPUs && o.OfCPUs > 0 }

// Others is what other programs use just now of the CPUs that procfit may use.
func Others(ctx context.Context) plan.Others {
	return (&runner{cpus: topology.Allowed()}).Others(ctx)
}

func (r *runner) Others(ctx context.Context) plan.Others {
	before, err := r.readHost()
	if err != nil {
		return plan.Others{} // each trial says so
	}
	was := observe.AllTimes()
	if wait.For(ctx, othersTime) != nil {
		return plan.Others{}
	}
	now, err := r.readHost()
	if err != nil {
		return plan.Others{}
	}
	between := now.at.Sub(before.at)
	busy := now.cpus.Since(before.cpus).Busy - r.sharedPart(now.self-before.self)
	return plan.Others{
		CPUs: max(0, busy.Seconds()/between.Seconds()), OfCPUs: float64(len(r.cpus)),
		Busiest: observe.Busiest(was, observe.AllTimes(), between),
	}
}

// hostSince is the machine's state between two readings. What was busy on the
// target's CPUs and was neither the target nor its load was other programs.
func (r *run) hostSince(before, now host, targetCPU, loadCPU time.Duration) *journal.HostUse {
	all, ours := now.machine.Since(before.machine), now.cpus.Since(before.cpus)
	use := &journal.HostUse{StealSeconds: all.Steal.Seconds(), TargetStealSeconds: new(ours.Steal.Seconds()), BusyRatio: all.BusyRatio, TargetCPUs: len(r.cpus)}
	if before.heat >= 0 && now.heat >= before.heat {
		use.HeatTimes = new(now.heat - before.heat)
	}
	known := targetCPU + r.sharedPart(now.self-before.self+loadCPU)
	trial.CountOthers(use, max(0, (ours.Busy-known).Seconds()), now.at.Sub(before.at))
	return use
}

// hostOfRuns is the machine's state over a batch program's measured runs. Whatever
// procfit started meanwhile has ended, its supervisors too: none of it is another program,
// and neither is the neighbour. What was between the runs is taken out by its share of the
// time, but for what prepares them, see skip.
func (r *run) hostOfRuns() (*journal.HostUse, error) {
	if r.runs.err != nil {
		return nil, r.runs.err
	}
	now, err := r.readHost()
	if err != nil {
		return nil, err
	}
	before := r.runs.began
	ours := now.ended - before.ended
	if beside := r.neighbourCPUSince(r.runs.beside); beside != nil {
		ours += *beside
	}
	use := r.hostSince(before, now, ours, 0)
	if span := now.at.Sub(before.at).Seconds(); span > r.runs.seconds {
		share := r.runs.seconds / span
		use.StealSeconds *= share
		*use.TargetStealSeconds *= share
		for _, x := range []*float64{use.OtherCPUSeconds, use.MostOtherCPUSeconds} {
			if x != nil {
				*x *= share
			}
		}
	}
	return use, nil
}

// skip takes the time until end is called out of what is counted over the runs: what prepares a run may
// use other CPUs than the target's, and nobody knows how much of its CPU time was there.
func (r *run) skip() (end func()) {
	if r.runs == nil {
		return func() {} // of a run that warms up
	}
	from, err := r.readHost()
	beside := r.neighbourCPU()
	return func() {
		to, failed := r.readHost()
		began := &r.runs.began
		r.runs.err = cmp.Or(r.runs.err, err, failed)
		began.at = began.at.Add(to.at.Sub(from.at))
		began.machine, began.cpus = began.machine.After(from.machine, to.machine), began.cpus.After(from.cpus, to.cpus)
		began.self, began.ended = began.self+to.self-from.self, began.ended+to.ended-from.ended
		if used := r.neighbourCPUSince(beside); used != nil && r.runs.beside != nil {
			*r.runs.beside += *used
		}
	}
}

// sharedPart is how much of the load's CPU time fell on the target's CPUs: their share of the load's.
func (r *runner) sharedPart(cpu time.Duration) time.Duration {
	on := r.spec.LoadCPUs()
	if on == nil {
		on = topology.Allowed()
	}
	if len(on) == 0 || len(r.cpus) == 0 {
		return cpu
	}
	shared := 0
	for _, n := range on {
		if slices.Contains(r.cpus, n) {
			shared++
		}
	}
	return cpu * time.Duration(shared) / time.Duration(len(on))
}

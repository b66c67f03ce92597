package local

import (
	"time"

	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// followed is the Go program of a replica, whose garbage collector is followed.
type followed struct {
	pid    int         // 0: none was found
	before *observe.GC // nil: it told nothing then
}

// follow reads the collectors at the beginning of a stretch of a trial.
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
	sum := &journal.GC{}
	for _, one := range c.collectors {
		if one.pid == 0 {
			return nil
		}
		gc, err := c.run.reader.GC(one.pid)
		if err != nil {
			return nil
		}
		span, ok := gc.Since(one.before, c.began)
		if !ok {
			return nil
		}
		sum.Add(trial.GCOf(span, time.Since(c.began)))
	}
	if len(c.collectors) == 0 {
		return nil
	}
	return sum
}

// rarely is how far apart looks at a batch program are before its collector is looked
// at too, which must be searched for until it has run.
const rarely = 20 * time.Millisecond

// passing is what is seen of a batch program while it runs: as of the last look.
type passing struct {
	peak    int64 // bytes, of all processes at once
	replica []journal.GC
	known   []bool
}

// look reads the memory and the collectors of the replicas that still run. They started
// at started: all that a collector ever did is of this run, even where so much has passed
// that the runtime no longer knows when its first cycle ended (256 cycles, which a program
// that allocates much has behind it in 50 ms).
func (p *passing) look(r *run, f fleet, began time.Time, pause time.Duration) {
	if p.known == nil {
		p.replica, p.known = make([]journal.GC, len(f)), make([]bool, len(f))
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
		pid, ok := r.reader.BusiestGo(pids)
		if !ok {
			continue
		}
		if gc, err := r.reader.GC(pid); err == nil {
			p.replica[i], p.known[i] = trial.GCOf(gc.All(), time.Since(began)), true
		}
	}
	if m, ok := observe.MemoryOf(all); ok {
		p.peak = max(p.peak, m.Peak)
	}
}

// record adds it to the run's counters.
func (p *passing) record(u *journal.Usage) {
	if p.peak > 0 {
		u.Memory = &journal.Memory{PeakRSSBytes: p.peak}
	}
	sum := &journal.GC{}
	for i, known := range p.known {
		if !known {
			return
		}
		sum.Add(p.replica[i])
	}
	if len(p.known) > 0 {
		u.GC = sum
	}
}

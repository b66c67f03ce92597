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

// record adds it to the run's counters.
func (p *passing) record(u *journal.Usage) {
	if p.peak > 0 {
		u.Memory = &journal.Memory{PeakRSSBytes: p.peak}
	}
	u.GC = trial.SumAll(p.replica, (*journal.GC).Add)
}

package drift

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/live"
)

const (
	// most is how long the search for the Meters of one scan may take.
	most = time.Second
	// later is when a program in which no Meter was found is looked at again.
	later = 5 * time.Minute
	// mostFinding bounds the threads of searches that a file system does not answer.
	mostFinding = 16
	// keptFor is how long a program is kept that no scan sees: a scan may run out of time.
	keptFor = 5 * time.Minute
)

// Watch compares the programs of several scans. The zero value is ready. It is for one
// goroutine at a time.
type Watch struct {
	services map[observe.Identity]*program
	finding  atomic.Int32 // searches that have not ended

	meters meter.Reader
	find   func(pid int) (reader, error) // nil: by meters
}

// reader reads the counters of a program.
type reader interface {
	Metrics() (live.Metrics, error)
	Close() error
}

// program is a process that has an expected value with a load.
type program struct {
	service
	from    reader      // nil: it is not found
	finding chan reader // nil: it is not being looked for
	refused time.Time
	seen    time.Time // in the latest scan that had it
}

// Look reads the counters of those programs of a scan whose expected value has a load, and
// judges them again by what is known now.
func (w *Watch) Look(ctx context.Context, snap *observe.Snapshot) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	seen := map[observe.Identity]*program{}
	for i := range snap.Processes {
		p := &snap.Processes[i]
		if p.Expected == nil || p.Expected.Requests == nil {
			continue
		}
		one := w.services[p.Identity()]
		if one == nil {
			one = new(program)
		}
		seen[p.Identity()], one.seen = one, snap.At
		if t := w.ask(ctx, one, p, snap.At); t != nil {
			p.Traffic = t
			p.Findings = rule.Judge(p.Subject)
		}
	}
	for id, one := range w.services {
		if seen[id] == nil && snap.At.Sub(one.seen) < keptFor {
			seen[id] = one
		} else if seen[id] == nil && one.from != nil {
			one.from.Close()
		}
	}
	w.services = seen
}

// ask is what a program serves; nil: not known.
func (w *Watch) ask(ctx context.Context, one *program, p *observe.Process, at time.Time) *rule.Traffic {
	if ctx.Err() != nil || at.Sub(one.refused) < later && !one.refused.IsZero() {
		return nil
	}
	if one.from == nil {
		if one.from = w.found(ctx, one, p.PID); one.from == nil { // it has no Meter, or not for us
			one.refused = at
			return nil
		}
	}
	now, err := one.from.Metrics()
	if err != nil {
		one.from.Close()
		one.from, one.refused = nil, at
		return nil
	}
	procs, _ := p.Procs()
	return one.add(p.Expected, now, max(p.NumCPU, procs))
}

// found looks for the program's counters; nil: they are not found, or not yet. The file system
// of its executable may be one that never answers: so it is not looked for twice, and not while
// very many searches have not ended.
func (w *Watch) found(ctx context.Context, p *program, pid int) reader {
	if p.finding == nil {
		if w.finding.Load() >= mostFinding {
			return nil
		}
		w.finding.Add(1)
		find, to := w.find, make(chan reader, 1)
		if find == nil {
			find = func(pid int) (reader, error) { return w.meters.Open(pid) }
		}
		p.finding = to
		go func() {
			defer w.finding.Add(-1)
			from, err := find(pid)
			if err != nil {
				from = nil
			}
			to <- from
		}()
	}
	select {
	case from := <-p.finding:
		p.finding = nil
		return from
	case <-ctx.Done():
		return nil
	}
}

// span is how long Now counts.
const span = time.Second

// Now is a Subject with what it serves within a second, if its expected value has a load
// and it has a Meter.
func Now(ctx context.Context, s rule.Subject) rule.Subject {
	var w Watch
	snap := observe.Snapshot{At: time.Now(), Processes: []observe.Process{{Subject: s}}}
	w.Look(ctx, &snap)
	for _, one := range w.services {
		if one.from == nil {
			return s
		}
		defer one.from.Close()
		select {
		case <-ctx.Done():
		case <-time.After(span):
			w.Look(ctx, &snap)
		}
	}
	return snap.Processes[0].Subject
}

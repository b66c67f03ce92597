package drift

import (
	"context"
	"strconv"
	"time"

	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/live"
)

const (
	// most is how long the programs of one scan may take to answer, and each of them.
	most     = time.Second
	mostEach = 200 * time.Millisecond
	// later is when a program that did not answer is asked again.
	later = 5 * time.Minute
)

// Watch compares the programs of several scans. The zero value is ready. It is for one
// goroutine at a time.
type Watch struct {
	services map[observe.Identity]*program

	find func(pid int) (reader, error) // nil: by the control socket of the process
}

// reader reads the counters of a program.
type reader interface {
	Metrics(ctx context.Context) (live.Metrics, error)
}

// program is a process that has an expected value with a load.
type program struct {
	service
	from    reader // nil: it is not found
	refused time.Time
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
		seen[p.Identity()] = one
		if t := w.ask(ctx, one, p, snap.At); t != nil {
			o := p.Observed
			o.Traffic = t
			p.Subject = rule.NewSubject(o)
			p.Findings = rule.Judge(p.Subject)
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
		find := w.find
		if find == nil {
			find = byPID
		}
		from, err := find(p.PID)
		if err != nil { // it has no Meter, or not for us
			one.refused = at
			return nil
		}
		one.from = from
	}
	each, cancel := context.WithTimeout(ctx, mostEach)
	defer cancel()
	now, err := one.from.Metrics(each)
	if err != nil {
		one.from, one.refused = nil, at
		return nil
	}
	procs, _ := p.Procs()
	return one.add(p.Expected, now, live.State{NumCPU: p.NumCPU, Procs: procs})
}

func byPID(pid int) (reader, error) {
	return meter.Target{Name: "pid:" + strconv.Itoa(pid)}.Find()
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
		select {
		case <-ctx.Done():
		case <-time.After(span):
			w.Look(ctx, &snap)
		}
	}
	return snap.Processes[0].Subject
}

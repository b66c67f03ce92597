package exporter

import (
	"context"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
)

// flight is a running scan. There is one at a time: all requests during it and shortly after it get
// its result.
type flight struct {
	cancel  context.CancelCauseFunc
	done    chan struct{}
	waiting int   // requests that wait for the result; at 0 it is canceled
	patient int   // those with time left
	hurried bool  // none has time left: the scan ends early, with a result for these only
	err     error // when done
}

// refresh scans the processes, unless that was just done.
func (e *Exporter) refresh(ctx context.Context) error {
	e.mu.Lock()
	if e.flight == nil && e.last != nil && e.options.now().Sub(e.at) < fresh {
		e.mu.Unlock()
		return nil
	}
	if e.flight == nil || e.flight.waiting == 0 || e.flight.hurried {
		e.start(e.flight)
	}
	f := e.flight
	f.waiting++
	f.patient++
	e.mu.Unlock()
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		hurry := time.AfterFunc(left-min(left/4, mostSpare), func() { e.hurry(f) })
		defer func() {
			if hurry.Stop() {
				e.hurry(f)
			}
		}()
	}
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		e.mu.Lock()
		defer e.mu.Unlock()
		if f.waiting--; f.waiting == 0 {
			f.cancel(ctx.Err())
		}
		return ctx.Err()
	}
}

// fresh is how long a result is used again.
const fresh = time.Second

// mostSpare is the time that a scan leaves for sending its answer, at most; of a short
// timeout it leaves a quarter.
const mostSpare = 2 * time.Second

// hurry reports that one request has little time left. Once this is true of all of them,
// the scan ends early.
func (e *Exporter) hurry(f *flight) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if f.patient--; f.patient == 0 && e.flight == f {
		f.hurried = true
		f.cancel(observe.ErrTime)
	}
}

// start starts a scan, after the previous one has stopped.
func (e *Exporter) start(before *flight) {
	ctx, cancel := context.WithCancelCause(context.Background())
	f := &flight{cancel: cancel, done: make(chan struct{})}
	e.flight = f
	go func() {
		defer cancel(nil)
		if before != nil {
			<-before.done
		}
		v, err := e.scan(ctx)
		e.mu.Lock()
		defer e.mu.Unlock()
		switch f.err = err; {
		case err != nil && f.hurried:
			f.err = context.DeadlineExceeded
		case err != nil:
		case f.hurried:
			e.last, e.at = v, time.Time{}
		default:
			e.last, e.at = v, e.options.now()
		}
		if e.flight == f {
			e.flight = nil
		}
		close(f.done)
	}()
}

// Close stops a running scan and waits for its end.
func (e *Exporter) Close() {
	e.mu.Lock()
	f := e.flight
	if f != nil {
		f.cancel(nil)
	}
	e.mu.Unlock()
	if f != nil {
		<-f.done
	}
}

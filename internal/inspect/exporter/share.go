package exporter

import (
	"context"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
)

// sharer runs one scan at a time and gives its result to all requests during the scan and
// shortly after it.
type sharer struct {
	scan  func(context.Context) (view, error)
	fresh time.Duration // how long a result is used again
	now   func() time.Time

	mu     sync.Mutex
	flight *flight
	last   view
	at     time.Time // of last
}

type flight struct {
	cancel  context.CancelCauseFunc
	done    chan struct{}
	waiting int  // requests that wait for the result; at 0 it is canceled
	patient int  // those with time left
	hurried bool // none has time left: the scan ends early, with a result for these only

	view view // when done
	err  error
}

// get returns a view no older than fresh.
func (s *sharer) get(ctx context.Context) (view, error) {
	s.mu.Lock()
	if s.flight == nil && s.last != nil && s.now().Sub(s.at) < s.fresh {
		defer s.mu.Unlock()
		return s.last, nil
	}
	if s.flight == nil || s.flight.waiting == 0 || s.flight.hurried {
		s.start(s.flight)
	}
	f := s.flight
	f.waiting++
	f.patient++
	s.mu.Unlock()
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		hurry := time.AfterFunc(left-min(left/4, mostSpare), func() { s.hurry(f) })
		defer func() {
			if hurry.Stop() {
				s.hurry(f)
			}
		}()
	}
	select {
	case <-f.done:
		return f.view, f.err
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		if f.waiting--; f.waiting == 0 {
			f.cancel(ctx.Err())
		}
		return nil, ctx.Err()
	}
}

// mostSpare is the time that a scan leaves for sending its answer, at most; of a short
// timeout it leaves a quarter.
const mostSpare = 2 * time.Second

// hurry reports that one request has little time left. Once this is true of all of them,
// the scan ends early.
func (s *sharer) hurry(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.patient--; f.patient == 0 && s.flight == f {
		f.hurried = true
		f.cancel(observe.ErrTime)
	}
}

// start starts a scan, after the previous one has stopped.
func (s *sharer) start(before *flight) {
	ctx, cancel := context.WithCancelCause(context.Background())
	f := &flight{cancel: cancel, done: make(chan struct{})}
	s.flight = f
	go func() {
		defer cancel(nil)
		if before != nil {
			<-before.done
		}
		v, err := s.scan(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		switch f.view, f.err = v, err; {
		case err != nil && f.hurried:
			f.err = context.DeadlineExceeded
		case err != nil:
		case f.hurried:
			s.last, s.at = v, time.Time{}
		default:
			s.last, s.at = v, s.now()
		}
		if s.flight == f {
			s.flight = nil
		}
		close(f.done)
	}()
}

// close stops a running scan and waits for its end.
func (s *sharer) close() {
	s.mu.Lock()
	f := s.flight
	if f != nil {
		f.cancel(nil)
	}
	s.mu.Unlock()
	if f != nil {
		<-f.done
	}
}

// latest is the view of the last successful scan; nil before the first.
func (s *sharer) latest() view {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

package exporter

import (
	"context"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
)

// sharer runs one scan at a time and gives its result to all who ask meanwhile or
// shortly after.
type sharer struct {
	scan  func(context.Context) (*view, error)
	fresh time.Duration // how long a result is given out again
	now   func() time.Time

	mu     sync.Mutex
	flight *flight
	last   *view
	at     time.Time // of last
}

// flight is a scan that runs.
type flight struct {
	cancel  context.CancelCauseFunc
	done    chan struct{}
	waiting int  // who wants the result; at 0 it is canceled
	patient int  // those of them who have time left
	hurried bool // nobody had: it ends with what it has, which is for them alone

	view *view // when done
	err  error
}

// get returns a view no older than fresh.
func (s *sharer) get(ctx context.Context) (*view, error) {
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

// mostSpare is of the time that a scraper has what a scan leaves for its answer, at
// most; of a short one it is a quarter.
const mostSpare = 2 * time.Second

// hurry says that one who waits has little time left. Once all have, the scan is to
// end with what it has.
func (s *sharer) hurry(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.patient--; f.patient == 0 && s.flight == f {
		f.hurried = true
		f.cancel(observe.ErrTime)
	}
}

// start begins a scan, after the one before has stopped.
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

// close stops the scan that runs, if any, and waits for its end.
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

// latest is the view of the last scan that went well; nil before the first.
func (s *sharer) latest() *view {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

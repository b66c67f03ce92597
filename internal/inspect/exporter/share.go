package exporter

import (
	"context"
	"sync"
	"time"
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
	cancel  context.CancelFunc
	done    chan struct{}
	waiting int // who wants the result; at 0 it is canceled

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
	if s.flight == nil || s.flight.waiting == 0 {
		s.start(s.flight)
	}
	f := s.flight
	f.waiting++
	s.mu.Unlock()
	select {
	case <-f.done:
		return f.view, f.err
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		if f.waiting--; f.waiting == 0 {
			f.cancel()
		}
		return nil, ctx.Err()
	}
}

// start begins a scan, after the one before has stopped.
func (s *sharer) start(before *flight) {
	ctx, cancel := context.WithCancel(context.Background())
	f := &flight{cancel: cancel, done: make(chan struct{})}
	s.flight = f
	go func() {
		defer cancel()
		if before != nil {
			<-before.done
		}
		v, err := s.scan(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		if f.view, f.err = v, err; err == nil {
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
		f.cancel()
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

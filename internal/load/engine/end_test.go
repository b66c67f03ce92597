package engine

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/procfit/procfit/internal/load"
)

// sleeper is a worker that does not see when a run is over.
type sleeper struct {
	lane
	setup bool          // it says that it is connected
	woken chan struct{} // nil: it does not see the signal to stop either
	end   chan struct{} // of the test
}

func (s *sleeper) work(setup chan<- error) error {
	if s.setup {
		setup <- nil
	}
	select {
	case <-s.woken:
		if !s.setup {
			setup <- nil
		}
	case <-s.end:
	}
	return nil
}

func (s *sleeper) wake() {
	if s.woken != nil {
		close(s.woken)
	}
}

func (s *sleeper) close() {}

// A run ends by itself, whatever its threads do.
func TestEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		setup, sees bool
		took        time.Duration // at most
	}{
		"late":             {true, true, time.Minute + maxDrain + lateEnd},
		"never":            {true, false, time.Minute + maxDrain + lateEnd + giveUp},
		"late to connect":  {false, true, maxSetup + lateEnd},
		"never to connect": {false, false, maxSetup + lateEnd + giveUp},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, err := prepare(load.Options{URLs: []string{"http://127.0.0.1:1/"}, Connections: 1, Duration: time.Minute})
				if err != nil {
					t.Fatal(err)
				}
				s := &sleeper{setup: tt.setup, end: make(chan struct{})}
				if tt.sees {
					s.woken = make(chan struct{})
				}
				r := &run{plan: p, base: time.Now(), begin: make(chan struct{}), workers: []worker{s}}
				s.init(r, 0, 1)
				began := time.Now()
				result, err := r.do(t.Context())
				if took := time.Since(began); took > tt.took || took < tt.took-lateEnd {
					t.Errorf("it took %v, at most %v", took, tt.took)
				}
				if stuck := errors.Is(err, errStuck); stuck == tt.sees || stuck == (result != nil) {
					t.Errorf("%v, %v", result, err)
				}
				close(s.end)
			})
		})
	}
}

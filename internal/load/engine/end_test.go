package engine

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/test/must"
)

// sleeper is a network whose loop does not see when a run is over.
type sleeper struct {
	network
	setup bool          // it connects
	woken chan struct{} // nil: it does not see the signal to stop either
	end   chan struct{} // of the test
}

func (s *sleeper) begin() (end func(), err error)                          { return func() {}, nil }
func (s *sleeper) used() (user, system time.Duration, cpus int, err error) { return 0, 0, 1, nil }

func (s *sleeper) open(c *conn) {
	if s.setup {
		c.state = stateOpen
	}
}

func (s *sleeper) wait(int64) error {
	select {
	case <-s.woken:
	case <-s.end:
	}
	return nil
}

func (s *sleeper) wake() {
	if s.woken != nil {
		close(s.woken)
	}
}

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
				var hooks string
				p := must.Get(prepare(load.Options{
					URLs: []string{"http://127.0.0.1:1/"}, Connections: 1, Duration: time.Minute,
					Began: func() { hooks += "began " }, Ended: func() { hooks += "ended" },
				}))(t)
				s := &sleeper{setup: tt.setup, end: make(chan struct{})}
				if tt.sees {
					s.woken = make(chan struct{})
				}
				w := &loop{net: s}
				r := &run{plan: p, base: time.Now(), begin: make(chan struct{}), workers: []*loop{w}}
				w.init(r, 0, 1)
				began := time.Now()
				result, err := r.do(t.Context())
				if took := time.Since(began); took > tt.took || took < tt.took-lateEnd {
					t.Errorf("it took %v, at most %v", took, tt.took)
				}
				if stuck := errors.Is(err, errStuck); stuck == tt.sees || stuck == (result != nil) {
					t.Errorf("%v, %v", result, err)
				}
				if (hooks == "began ended") != tt.setup || (hooks == "") == tt.setup {
					t.Errorf("hooks: %q", hooks)
				}
				close(s.end)
				if !tt.setup && !tt.sees {
					close(r.begin) // which was never given
				}
			})
		})
	}
}

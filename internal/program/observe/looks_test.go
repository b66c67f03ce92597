package observe

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// TestLooks: a look that does not end is waited for once, and its process is looked at again
// when it has ended.
func TestLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l looks
		ctx, cancel := context.WithCancelCause(t.Context())
		release := make(chan bool)
		hangs := func() sight { <-release; return sight{other: true} }
		answers := func() sight { return sight{other: true} }
		waited := func(id Identity, look func() sight, why ...error) (time.Duration, bool) {
			began := time.Now()
			one, err := l.try(ctx, id, look)
			if (err == nil) != one.other || err != nil && len(why) == 0 && err != errHung {
				t.Errorf("%d: %v, %v", id.PID, one, err)
			}
			for _, want := range why {
				if err == nil || err.Error() != want.Error() {
					t.Errorf("%d: %v, expected %v", id.PID, err, want)
				}
			}
			return time.Since(began), err == nil
		}
		if d, ok := waited(Identity{PID: 1}, hangs); ok || d != answerIn {
			t.Errorf("one that hangs: %v after %v", ok, d)
		}
		if d, ok := waited(Identity{PID: 1}, answers); ok || d != 0 {
			t.Errorf("again, before it has ended: %v after %v", ok, d)
		}
		if d, ok := waited(Identity{PID: 1, Started: 2}, answers); !ok || d != 0 {
			t.Errorf("a new process with its number: %v after %v", ok, d)
		}
		release <- true
		synctest.Wait()
		if d, ok := waited(Identity{PID: 1}, answers); !ok || d != 0 {
			t.Errorf("again, after it has ended: %v after %v", ok, d)
		}
		cancel(ErrTime)
		if d, ok := waited(Identity{PID: 2}, hangs); ok || d != answerAtEnd {
			t.Errorf("when the time of the scan is over: %v after %v", ok, d)
		}
		if _, ok := waited(Identity{PID: 3}, answers); !ok {
			t.Error("one that answers was given up when the time of the scan was over")
		}
		started := 1
		for pid := 4; started < mostHung+runtime.GOMAXPROCS(0); pid++ {
			waited(Identity{PID: pid}, hangs)
			started++
		}
		full := fmt.Errorf("not looked at: %d other processes do not answer", started)
		if d, ok := waited(Identity{PID: 1}, answers, full); ok || d != 0 {
			t.Errorf("another one, while very many hang: %v after %v", ok, d)
		}
		close(release)
		synctest.Wait()
		if _, ok := waited(Identity{PID: 1}, answers); !ok {
			t.Error("none hangs any more")
		}
		if !errors.Is(context.Cause(ctx), ErrTime) {
			t.Error(context.Cause(ctx))
		}
	})
}

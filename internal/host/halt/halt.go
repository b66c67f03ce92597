// Package halt notices that this process did not run for a while although it did not wait
// for a CPU: a signal stopped it (SIGSTOP, or SIGTSTP by Ctrl-Z), or the machine was
// suspended. What it sends and looks at in that time is late by its own fault.
//
// SIGCONT ends a stop, so a gap in a tick with that signal next to it is one: a process
// that has no CPU has gaps too, and gets no signal. The clock that includes suspensions
// (CLOCK_BOOTTIME) runs ahead of the one that does not (CLOCK_MONOTONIC) by their time.
//
// Limits: a frozen cgroup and a debugger send no SIGCONT, and so are not noticed.
// Suspensions are noticed on Linux, and stops not on Windows, which has none.
package halt

import (
	"os"
	"os/signal"
	"sync"
	"time"
)

const (
	tick = 50 * time.Millisecond
	// least is the shortest stop that is noticed: several ticks.
	least = 200 * time.Millisecond
	// near is how far apart the signal and the gap of one stop may be seen.
	near = time.Second
)

// Watch watches this process from Start to End.
type Watch struct {
	asleep    time.Duration // for which the machine had been suspended at the start
	continued chan os.Signal
	over      chan struct{}
	watching  sync.WaitGroup
	stopped   time.Duration // all stops; for End once watching is done
}

// Start starts to watch. End must follow.
func Start() *Watch {
	w := &Watch{asleep: suspended(), continued: make(chan os.Signal, 4), over: make(chan struct{})}
	notify(w.continued)
	now := time.Now() // and not when the goroutine gets a CPU, which may be after a stop
	w.watching.Go(func() { w.watch(now) })
	return w
}

// End is for how long the process was stopped since the start, or the machine suspended.
func (w *Watch) End() time.Duration {
	close(w.over)
	w.watching.Wait()
	signal.Stop(w.continued)
	total := w.stopped
	if asleep := suspended() - w.asleep; asleep >= least {
		total += asleep
	}
	return total
}

func (w *Watch) watch(start time.Time) {
	t := time.NewTicker(tick)
	defer t.Stop()
	s := stops{last: start}
	for {
		select {
		case <-w.over:
			// The end of a stop may be what lets the watched work end, and its signal be
			// delivered after that.
			if s.look(time.Now(), false); !s.gapAt.IsZero() {
				select {
				case <-w.continued:
					s.look(time.Now(), true)
				case <-time.After(tick):
				}
			}
			w.stopped = s.total
			return
		case <-t.C:
			s.look(time.Now(), false)
		case <-w.continued:
			s.look(time.Now(), true)
		}
	}
}

// stops adds up the gaps that a signal explains. Which of both is seen first is chance.
type stops struct {
	last      time.Time // when this was last seen to run
	gap       time.Duration
	gapAt     time.Time // zero: there is no gap without a signal
	signalled time.Time // zero: there is no signal without a gap
	total     time.Duration
}

func (s *stops) look(now time.Time, signalled bool) {
	if gap := now.Sub(s.last); gap >= least {
		s.gap, s.gapAt = gap, now
	}
	s.last = now
	if signalled {
		s.signalled = now
	}
	if s.gapAt.IsZero() || s.signalled.IsZero() {
		return
	}
	if s.gapAt.Sub(s.signalled).Abs() <= near {
		s.total += s.gap
		s.gapAt, s.signalled = time.Time{}, time.Time{}
	}
}

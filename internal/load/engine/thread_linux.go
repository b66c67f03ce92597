//go:build !portable

package engine

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// takeThread makes the goroutine's thread ours for good: it is never unlocked,
// so the runtime ends the thread with the goroutine and no other goroutine
// inherits its affinity or slack.
func takeThread(cpus []int) error {
	runtime.LockOSThread()
	// The kernel may let a thread's timers lapse by its slack, 50 µs by default
	// (prctl(2), PR_SET_TIMERSLACK); 1 ns is the least.
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set the timer slack: %w", err)
	}
	if len(cpus) == 0 {
		return nil
	}
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("cannot bind to CPUs %v: %w; check that they are online and that this process may use them", cpus, err)
	}
	return nil
}

// threadCPU is the CPU time of the calling thread so far.
func threadCPU() (user, system time.Duration, err error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		return 0, 0, fmt.Errorf("read the thread's CPU time: %w", err)
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano()), nil
}

// takeTimer keeps the goroutine on a thread whose timers the kernel does not let
// lapse by its slack, see takeThread.
func takeTimer() (release func()) {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // else a send is some 50 µs late, which the send lag shows
	return func() {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) // the default again
		runtime.UnlockOSThread()
	}
}

func pause(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // a signal ends it early, and the schedule looks again
}

// sendDue sends what is due while connections are idle, and returns the time.
func (w *loop) sendDue(now int64) int64 {
	for w.idleLen > 0 && w.slot < w.slots {
		at := w.intended(w.slot)
		if now < at {
			break
		}
		c := w.popIdle()
		w.due(&c.exchange, at, now)
		w.send(c)
		now = w.clock()
	}
	return now
}

// sendNext gives each idle connection of a closed loop its next request, and returns the
// time.
func (w *loop) sendNext(now int64) int64 {
	for w.idleLen > 0 && now < w.end {
		c := w.popIdle()
		w.another(&c.exchange, now)
		w.send(c)
		now = w.clock()
	}
	return now
}

func (w *loop) pushIdle(c *conn) {
	w.idle[(w.idleHead+w.idleLen)%len(w.idle)] = c
	w.idleLen++
}

// popIdle takes the connection that has been idle longest.
func (w *loop) popIdle() *conn {
	c := w.idle[w.idleHead]
	w.idleHead = (w.idleHead + 1) % len(w.idle)
	w.idleLen--
	return c
}

// drop takes a lost connection out of the idle ones. That is rare, so it walks.
func (w *loop) drop(lost *conn) {
	for range w.idleLen {
		if c := w.popIdle(); c != lost {
			w.pushIdle(c)
		}
	}
}

//go:build !portable

package engine

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

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

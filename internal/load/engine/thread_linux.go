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
		return fmt.Errorf("pin to CPUs %v: %w; are they online and allowed to this process?", cpus, err)
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

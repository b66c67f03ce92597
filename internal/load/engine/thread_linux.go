//go:build !portable

package engine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/cpuset"
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
	want := cpuset.Mask(cpus...)
	err := unix.SchedSetaffinityDynamic(0, want)
	if err == nil {
		err = verify(want)
	}
	if err != nil {
		return fmt.Errorf("cannot bind to CPUs %v: %w; check that they are online and that this process may use them", cpus, err)
	}
	return nil
}

func threadCPU() (user, system time.Duration, err error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		return 0, 0, fmt.Errorf("read the thread's CPU time: %w", err)
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano()), nil
}

// Bind puts every thread of this process onto the CPUs, where there are any and it is
// not there yet. What is started meanwhile inherits that.
func Bind(cpus []int) (back func(), err error) {
	before, want := cpuset.Mask(), cpuset.Mask(cpus...)
	if err := unix.SchedGetaffinityDynamic(0, before); err != nil {
		return nil, fmt.Errorf("cannot bind the load generator to CPUs %v: read procfit's own CPUs: %w", cpus, err)
	}
	if len(cpus) == 0 || slices.Equal(want, before) {
		return func() {}, nil
	}
	if err := bindAll(want); err != nil {
		_ = bindAll(before)
		return nil, fmt.Errorf("the load generator cannot run on CPUs %v: %w", cpus, err)
	}
	// One P more than the engine's threads, each of which holds one: the runtime would
	// follow the affinity down to one in all (Go 1.25), and what counts would wait.
	procs := runtime.GOMAXPROCS(len(cpus) + 1)
	return func() {
		runtime.GOMAXPROCS(procs)
		_ = bindAll(before) // as it was; nothing is measured until the next trial
	}, nil
}

// bindAll binds each thread. A thread that one not bound yet has just made is seen in
// the next round.
func bindAll(want unix.CPUSetDynamic) error {
	const rounds = 100
	for range rounds {
		moved, err := bindOnce(want)
		if err != nil || moved == 0 {
			return err
		}
	}
	return errors.New("procfit starts threads faster than it can bind them")
}

func bindOnce(want unix.CPUSetDynamic) (moved int, err error) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0, err
	}
	has := cpuset.Mask()
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if err := unix.SchedGetaffinityDynamic(id, has); err == nil && slices.Equal(has, want) {
			continue
		}
		switch err := unix.SchedSetaffinityDynamic(id, want); {
		case errors.Is(err, unix.ESRCH): // it has ended
		case err != nil:
			return moved, err
		default:
			moved++
		}
	}
	return moved, verify(want)
}

// verify sees that the kernel granted all: it leaves out what is not allowed.
func verify(want unix.CPUSetDynamic) error {
	has := cpuset.Mask()
	if err := unix.SchedGetaffinityDynamic(0, has); err != nil {
		return err
	}
	if !slices.Equal(has, want) {
		return fmt.Errorf("procfit may use only %d of them", has.Count())
	}
	return nil
}

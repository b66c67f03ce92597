//go:build !portable

package engine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// Bind puts every thread of this process onto the CPUs, where there are any and it is
// not there yet. What is started meanwhile inherits that.
func Bind(cpus []int) (back func(), err error) {
	var before, want unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return nil, fmt.Errorf("cannot bind the load generator to CPUs %v: read procfit's own CPUs: %w", cpus, err)
	}
	for _, cpu := range cpus {
		want.Set(cpu)
	}
	if len(cpus) == 0 || want == before {
		return func() {}, nil
	}
	if err := bindAll(want); err != nil {
		_ = bindAll(before)
		return nil, fmt.Errorf("the load generator cannot run on CPUs %v: %w", cpus, err)
	}
	// One P more than the engine's threads, of which each holds one: the runtime would
	// follow the affinity down to one in all (Go 1.25), and what counts would wait.
	procs := runtime.GOMAXPROCS(len(cpus) + 1)
	return func() {
		runtime.GOMAXPROCS(procs)
		_ = bindAll(before) // as it was; nothing is measured until the next trial
	}, nil
}

// bindAll binds each thread. A thread that one not bound yet has just made is seen in
// the next round.
func bindAll(want unix.CPUSet) error {
	const rounds = 100
	for range rounds {
		moved, err := bindOnce(want)
		if err != nil || moved == 0 {
			return err
		}
	}
	return errors.New("procfit starts threads faster than it can bind them")
}

func bindOnce(want unix.CPUSet) (moved int, err error) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0, err
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		var has unix.CPUSet
		if err := unix.SchedGetaffinity(id, &has); err == nil && has == want {
			continue
		}
		switch err := unix.SchedSetaffinity(id, &want); {
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
func verify(want unix.CPUSet) error {
	var has unix.CPUSet
	if err := unix.SchedGetaffinity(0, &has); err != nil {
		return err
	}
	if has != want {
		return fmt.Errorf("procfit may use only %d of them", has.Count())
	}
	return nil
}

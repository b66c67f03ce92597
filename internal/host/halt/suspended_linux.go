package halt

import (
	"time"

	"golang.org/x/sys/unix"
)

// suspended is for how long the machine has been suspended since it started.
func suspended() time.Duration {
	var running, all unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &running) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &all) != nil {
		return 0
	}
	return time.Duration(all.Nano() - running.Nano())
}

package meter

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// memory opens the memory of the program that a process is now.
func memory(pid, flag int) (*os.File, error) {
	return os.OpenFile("/proc/"+strconv.Itoa(pid)+"/mem", flag, 0)
}

// cpuTime is what a process used, user and system, with that of threads that have ended
// (clock_getcpuclockid(3)).
func cpuTime(pid int) (time.Duration, error) {
	const scheduled = 2 // as the scheduler counts, in nanoseconds
	var used unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|scheduled), &used)
	return time.Duration(used.Nano()), err
}

// monotonic is the clock of leases.
func monotonic() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano())
}

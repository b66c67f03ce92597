//go:build unix

package engine

import (
	"syscall"
	"time"
)

// processCPU is the CPU time of this process so far.
func processCPU() (user, system time.Duration) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}

//go:build unix

package engine

import (
	"fmt"
	"syscall"
	"time"
)

func processCPU() (user, system time.Duration, err error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0, fmt.Errorf("cannot read the CPU time of procfit: %w", err)
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano()), nil
}

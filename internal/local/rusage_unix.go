//go:build unix

package local

import (
	"syscall"
	"time"
)

// ownCPU is the CPU time that procfit itself has used, its load engine's too.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

//go:build unix

package local

import (
	"syscall"
	"time"
)

// ownCPU is the CPU time that procfit itself has used, its load engine's too.
func ownCPU() time.Duration { return used(syscall.RUSAGE_SELF) }

// endedCPU is that of its children which have ended and of all below them.
func endedCPU() time.Duration { return used(syscall.RUSAGE_CHILDREN) }

func used(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

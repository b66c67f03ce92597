package live

import (
	"errors"
	"io"
	"syscall"
	"time"
)

// Listen is not available on Windows: mount the Agent behind your own authentication.
func (a *Agent) Listen(file string) (io.Closer, error) {
	return nil, errors.New("live: a control socket needs Linux, macOS or a BSD; mount the Agent as an http.Handler")
}

// cpuTime is the CPU time of this process, user and kernel.
func cpuTime() time.Duration {
	var created, exited, kernel, user syscall.Filetime
	self, err := syscall.GetCurrentProcess()
	if err != nil || syscall.GetProcessTimes(self, &created, &exited, &kernel, &user) != nil {
		return 0
	}
	ticks := func(t syscall.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return time.Duration(100 * (ticks(kernel) + ticks(user)))
}

package engine

import (
	"time"

	"golang.org/x/sys/windows"
)

// processCPU is the CPU time of this process so far.
func processCPU() (user, system time.Duration) {
	var created, exited, inKernel, inUser windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &inKernel, &inUser) != nil {
		return 0, 0
	}
	return span(inUser), span(inKernel)
}

// span is a duration in the steps of 100 ns of a FILETIME.
func span(f windows.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}

package engine

import (
	"fmt"
	"time"

	"golang.org/x/sys/windows"
)

func processCPU() (user, system time.Duration, err error) {
	var created, exited, inKernel, inUser windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &inKernel, &inUser); err != nil {
		return 0, 0, fmt.Errorf("cannot read the CPU time of procfit: %w", err)
	}
	return span(inUser), span(inKernel), nil
}

// span is a duration in the steps of 100 ns of a FILETIME.
func span(f windows.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}

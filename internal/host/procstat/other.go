//go:build !linux || portable

package procstat

import (
	"errors"
	"fmt"
	"time"
)

// errUnsupported is returned by everything here on a system without /proc.
var errUnsupported = fmt.Errorf("counters of processes need Linux: %w", errors.ErrUnsupported)

func readInto([]byte, string) ([]byte, error) { return nil, errUnsupported }

// ReadCPUTime needs Linux.
func ReadCPUTime(int) (time.Duration, error) { return 0, errUnsupported }

// ReadCPU needs Linux.
func ReadCPU(...int) (CPU, error) { return CPU{}, errUnsupported }

// IDs needs Linux.
func IDs(string) ([]int, error) { return nil, errUnsupported }

// Host needs Linux.
func Host() (HostInfo, error) { return HostInfo{}, errUnsupported }

// Monotonic needs Linux.
func Monotonic() time.Duration { return 0 }

func bootTicks() (uint64, error) { return 0, errUnsupported }

func threadCPU() time.Duration { return 0 }

// taskstats need Linux.
type taskstats struct{}

func openTaskstats() (*taskstats, error) { return nil, errUnsupported }

func (*taskstats) process(int) (counters, error) { return counters{}, errUnsupported }

func (*taskstats) close() error { return nil }

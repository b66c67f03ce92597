//go:build !linux || portable

package procstat

import (
	"errors"
	"fmt"
	"time"
)

var errUnsupported = fmt.Errorf("counters of processes need Linux: %w", errors.ErrUnsupported)

func readInto([]byte, string) ([]byte, error) { return nil, errUnsupported }

func ReadCPUTime(int) (time.Duration, error) { return 0, errUnsupported }

func ReadCPU(...int) (CPU, error) { return CPU{}, errUnsupported }

func IDs(string) ([]int, error) { return nil, errUnsupported }

func Host() (HostInfo, error) { return HostInfo{}, errUnsupported }

func Monotonic() time.Duration { return 0 }

func bootTicks() (uint64, error) { return 0, errUnsupported }

func threadCPU() time.Duration { return 0 }

type taskstats struct{}

func openTaskstats() (*taskstats, error) { return nil, errUnsupported }

func (*taskstats) process(int) (counters, error) { return counters{}, errUnsupported }

func (*taskstats) close() error { return nil }

//go:build !linux || portable

package observe

import (
	"errors"
	"fmt"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/rule"
)

// Listener needs Linux.
func Listener(port int, pids []int) (int, error) {
	return 0, fmt.Errorf("finding who listens at a port needs Linux: %w", errors.ErrUnsupported)
}

func allPIDs() ([]int, error) {
	return nil, fmt.Errorf("listing processes needs Linux: %w", errors.ErrUnsupported)
}

func (*Reader) expectedOf(procstat.Stat, string, string) (e *rule.Expected, wrong string) {
	return nil, ""
}

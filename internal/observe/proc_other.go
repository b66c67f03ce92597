//go:build !linux

package observe

import (
	"errors"
	"fmt"
)

// Descendants needs Linux.
func Descendants(root int) ([]int, error) {
	return nil, fmt.Errorf("finding the descendants of a process needs Linux: %w", errors.ErrUnsupported)
}

// Listener needs Linux.
func Listener(port int, pids []int) (int, error) {
	return 0, fmt.Errorf("finding who listens at a port needs Linux: %w", errors.ErrUnsupported)
}

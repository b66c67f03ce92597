//go:build !linux

package target

import (
	"context"
	"errors"
	"fmt"
)

var errLinux = fmt.Errorf("running a target needs Linux: %w", errors.ErrUnsupported)

// Stage is for Linux; elsewhere no process is ever started as one.
func Stage(args []string) (code int, ok bool) { return 0, false }

// Start fails: it needs Linux.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if _, err := spec.resolve(); err != nil {
		return nil, err
	}
	return nil, errLinux
}

// Descendants fails: it needs Linux.
func (p *Process) Descendants() ([]int, error) { return nil, errLinux }

//go:build !linux || portable

package engine

import "errors"

func Bind(cpus []int) (back func(), err error) {
	if len(cpus) == 0 {
		return func() {}, nil
	}
	return nil, errors.New("the load generator cannot be bound to CPUs on this system")
}

func rawLoops(*run) ([]*loop, error) { return nil, errors.ErrUnsupported }

//go:build !linux

package local

import "errors"

func moveTo([]int) (back func(), err error) {
	return nil, errors.New("a load cannot be bound to CPUs on this system")
}

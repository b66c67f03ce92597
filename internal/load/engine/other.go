//go:build !linux || portable

package engine

import (
	"errors"
	"time"
)

// Bind needs Linux.
func Bind(cpus []int) (back func(), err error) {
	if len(cpus) == 0 {
		return func() {}, nil
	}
	return nil, errors.New("the load generator cannot be bound to CPUs on this system")
}

func takeTimer() (release func()) { return func() {} }

func pause(d time.Duration) { time.Sleep(d) }

// rawEngine is none: it needs Linux.
func rawEngine() engine { return nil }

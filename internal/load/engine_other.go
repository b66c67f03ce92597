//go:build !linux

package load

import (
	"context"
	"errors"
)

func checkFiles(int) error { return nil }

// Run needs Linux.
func Run(context.Context, Options) (*Result, error) {
	return nil, errors.New("the load engine needs Linux (epoll, timerfd); elsewhere use --load with an external generator such as hey")
}

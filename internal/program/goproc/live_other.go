//go:build !linux || portable

package goproc

import (
	"context"
	"errors"
	"fmt"
)

var errUnsupported = fmt.Errorf("reading a live process needs Linux: %w", errors.ErrUnsupported)

// fd needs Linux, and with it all that is read of a process.
type fd struct{}

func openProc(int, string) (fd, error) { return fd{}, errUnsupported }

func (fd) Close() error { return nil }

func (fd) ReadAt([]byte, int64) (int, error) { return 0, errUnsupported }

func (fd) key() (fileKey, error) { return fileKey{}, errUnsupported }

func (fd) dataIn(size int64) int64 { return size }

func keyOf(int) (fileKey, error) { return fileKey{}, errUnsupported }

func hint(int) string { return "" }

// mapping needs Linux.
type mapping struct{}

func (mapping) name() string { return "" }

func (mapping) bias(*image) (uint64, error) { return 0, errUnsupported }

func (c *Cache) mapped(context.Context, int) (*file, *mapping, error) {
	return nil, nil, errUnsupported
}

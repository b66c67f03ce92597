//go:build !linux || portable

package goproc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

var errUnsupported = fmt.Errorf("reading a live process needs Linux: %w", errors.ErrUnsupported)

// keyOfInfo needs Linux, and with it all that is read of a process.
func keyOfInfo(fs.FileInfo, error) (fileKey, error) { return fileKey{}, errUnsupported }

func dataIn(_ *os.File, size int64) int64 { return size }

func hint(int) string { return "" }

func RootMayTrace() bool { return false }

// mapping needs Linux.
type mapping struct{}

func (mapping) name() string { return "" }

func (mapping) bias(*image) (uint64, error) { return 0, errUnsupported }

func (c *Cache) mapped(context.Context, int) (*file, *mapping, error) {
	return nil, nil, errUnsupported
}

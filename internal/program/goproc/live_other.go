//go:build !linux || portable

package goproc

import (
	"context"
	"errors"
	"fmt"
)

var errUnsupported = fmt.Errorf("reading a live process needs Linux: %w", errors.ErrUnsupported)

// Live needs Linux.
func (c *Cache) Live(pid int) (Live, error) {
	return Live{}, fmt.Errorf("process %d: %w", pid, errUnsupported)
}

// GC needs Linux.
func (c *Cache) GC(pid int) (GC, error) {
	return GC{}, fmt.Errorf("process %d: %w", pid, errUnsupported)
}

// NeverSets needs Linux: nothing is known.
func (c *Cache) NeverSets(int) bool { return false }

// MemoryLimit needs Linux.
func (c *Cache) MemoryLimit(pid int) (int64, error) {
	return 0, fmt.Errorf("process %d: %w", pid, errUnsupported)
}

// Text needs Linux.
func (c *Cache) Text(pid int) (*Text, error) {
	return nil, fmt.Errorf("process %d: %w", pid, errUnsupported)
}

// Marked needs Linux.
func (c *Cache) Marked(pid int, _ []byte) ([]uint64, error) {
	return nil, fmt.Errorf("process %d: %w", pid, errUnsupported)
}

// Running needs Linux.
type Running struct{}

// Learn needs Linux.
func (c *Cache) Learn(_ context.Context, pid int) (Running, error) { return c.Find(pid) }

// Find needs Linux.
func (c *Cache) Find(pid int) (Running, error) {
	return Running{}, fmt.Errorf("process %d: %w", pid, errUnsupported)
}

// Program needs Linux.
func (Running) Program() Program { return Program{} }

// Live needs Linux.
func (Running) Live() (Live, error) { return Live{}, errUnsupported }

// Program needs Linux.
func (c *Cache) Program(pid int) (Program, error) {
	return Program{}, fmt.Errorf("process %d: %w", pid, errUnsupported)
}

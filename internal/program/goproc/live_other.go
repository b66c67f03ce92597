//go:build !linux || portable

package goproc

import "fmt"

// Live needs Linux.
func (c *Cache) Live(pid int) (Live, error) {
	return Live{}, fmt.Errorf("process %d: %w", pid, ErrUnsupported)
}

// GC needs Linux.
func (c *Cache) GC(pid int) (GC, error) {
	return GC{}, fmt.Errorf("process %d: %w", pid, ErrUnsupported)
}

// Program needs Linux.
func (c *Cache) Program(pid int) (Program, error) {
	return Program{}, fmt.Errorf("process %d: %w", pid, ErrUnsupported)
}

//go:build !linux || portable

package cgroup

import (
	"errors"
	"fmt"
)

var errLinux = fmt.Errorf("a CPU quota needs Linux cgroups: %w", errors.ErrUnsupported)

// Parent is a directory in which groups can be made; on Linux only.
type Parent struct{ Announce func(dir string) error }

// Group is one group; on Linux only.
type Group struct{}

// Find fails: it needs Linux.
func Find() (*Parent, error) { return nil, errLinux }

// Denied is always an error: groups need Linux.
func Denied() error { return errLinux }

// Dir is always empty here.
func (p *Parent) Dir() string { return "" }

// New fails: it needs Linux.
func (p *Parent) New() (*Group, error) { return nil, errLinux }

// RemoveStale fails: it needs Linux.
func (p *Parent) RemoveStale() (int, error) { return 0, errLinux }

// Dir is always empty here.
func (g *Group) Dir() string { return "" }

// ProcsFile is always empty here.
func (g *Group) ProcsFile() string { return "" }

// SetQuota fails: it needs Linux.
func (g *Group) SetQuota(cpus float64) error { return errLinux }

// SetShares fails: it needs Linux.
func (g *Group) SetShares(shares int64) error { return errLinux }

// LimitsFrom is always empty here.
func LimitsFrom(dir string) map[string]string { return nil }

// Stats fails: it needs Linux.
func (g *Group) Stats() (Stats, error) { return Stats{}, errLinux }

// Outside fails: it needs Linux.
func (g *Group) Outside(pid int) (string, error) { return "", errLinux }

// Remove fails: it needs Linux.
func (g *Group) Remove() error { return errLinux }

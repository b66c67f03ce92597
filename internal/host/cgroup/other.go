//go:build !linux || portable

package cgroup

import (
	"errors"
	"fmt"
)

var errLinux = fmt.Errorf("a CPU quota needs Linux cgroups: %w", errors.ErrUnsupported)

type Parent struct{ Announce func(dir string) error }

type Group struct{}

func Find() (*Parent, error) { return nil, errLinux }

func Denied() error { return errLinux }

func (p *Parent) Dir() string { return "" }

func (p *Parent) New() (*Group, error) { return nil, errLinux }

func (p *Parent) RemoveStale() (int, error) { return 0, errLinux }

func (g *Group) Dir() string { return "" }

func (g *Group) ProcsFile() string { return "" }

func (g *Group) SetQuota(cpus float64) error { return errLinux }

func (g *Group) SetShares(shares int64) error { return errLinux }

func LimitsFrom(dir string) map[string]string { return nil }

func (g *Group) Stats() (Stats, error) { return Stats{}, errLinux }

func (g *Group) Outside(pid int) (string, error) { return "", errLinux }

func (g *Group) Remove() error { return errLinux }

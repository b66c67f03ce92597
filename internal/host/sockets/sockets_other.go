//go:build !linux

package sockets

import (
	"errors"
	"net/netip"
)

// Listening needs Linux.
type Listening struct{ ports []port }

// Of needs Linux.
func Of(int) (*Listening, error) { return nil, errors.ErrUnsupported }

// Close does nothing here.
func (l *Listening) Close() error { return nil }

// Address needs Linux.
func (l *Listening) Address() netip.AddrPort { return netip.AddrPort{} }

// Unread needs Linux.
func (l *Listening) Unread() (int, error) { return 0, errors.ErrUnsupported }

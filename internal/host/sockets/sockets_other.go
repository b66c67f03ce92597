//go:build !linux

package sockets

import (
	"errors"
	"net/netip"
)

type Listening struct {
	Address netip.AddrPort
	ports   []port
}

func Of(int) (*Listening, error) { return nil, errors.ErrUnsupported }

func (l *Listening) Close() error { return nil }

func (l *Listening) Unread() (int, error) { return 0, errors.ErrUnsupported }

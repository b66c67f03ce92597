package engine

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"

	"github.com/procfit/procfit/internal/load/wire"
)

// dialer opens connections of package net. Tests give it a network in memory.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// attempt is a connection that a goroutine opens.
type attempt struct {
	generation int32 // of the conn
	cancel     context.CancelFunc
	accepted   atomic.Bool // what is missing is the handshake

	below   net.Conn  // that is closed
	secure  *tls.Conn // nil: plain
	spoken  wire.Conn
	failure *wire.Failure
}

// carryOut dials and makes the handshake, over the connection that wrap makes of the dialled
// one.
func (a *attempt) carryOut(ctx context.Context, dial dialer, address string, s *wire.Speaker, wrap func(net.Conn) net.Conn) {
	below, err := dial(ctx, "tcp", address)
	if err != nil {
		a.failure = wire.Undialled(err)
		return
	}
	a.accepted.Store(true)
	if a.below = wrap(below); s.TLS == nil {
		a.spoken, a.failure = s.Plain()
	} else {
		a.secure, a.spoken, a.failure = s.Secure(ctx, a.below)
	}
	if a.failure != nil {
		below.Close()
	}
}

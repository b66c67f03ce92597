package engine

import (
	"context"
	"crypto/tls"
	"math"
	"net"
	"sync"
	"sync/atomic"

	"github.com/procfit/procfit/internal/load/wire"
)

// dialer opens connections of package net. Tests give it a network in memory.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

type attempts struct {
	dial   dialer
	ctx    context.Context // ends what is being opened
	cancel context.CancelFunc
	turn   chan struct{} // of those that open at a time
	left   sync.WaitGroup
}

func newAttempts(dial dialer) *attempts {
	all := &attempts{dial: dial, turn: make(chan struct{}, atOnce)}
	all.ctx, all.cancel = context.WithCancel(context.Background())
	return all
}

type attempt struct {
	generation int32 // of the conn
	cancel     context.CancelFunc
	began      atomic.Int64 // when its turn came; notYet: it has not
	accepted   atomic.Bool  // what is missing is the handshake

	below   net.Conn  // that is closed
	secure  *tls.Conn // nil: plain
	spoken  wire.Conn
	failure *wire.Failure
}

const notYet = math.MaxInt64

// start has a goroutine open a connection, over what wrap makes of the dialled one, and do
// what is then to be done.
func (all *attempts) start(w *loop, c *conn, wrap func(net.Conn) net.Conn, then func(*attempt)) {
	ctx, cancel := context.WithCancel(all.ctx)
	a := &attempt{generation: c.generation, cancel: cancel}
	c.attempt = a
	a.began.Store(notYet)
	select {
	case all.turn <- struct{}{}:
		a.began.Store(c.start)
	default:
	}
	all.left.Go(func() {
		if a.began.Load() == notYet {
			select {
			case all.turn <- struct{}{}:
				a.began.Store(w.clock())
			case <-ctx.Done():
				return
			}
		}
		a.carryOut(ctx, all.dial, w.addresses[c.target].String(), w.speakers[c.target], wrap)
		<-all.turn
		then(a)
	})
}

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

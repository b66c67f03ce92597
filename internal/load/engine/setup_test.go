package engine

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
	"github.com/procfit/procfit/test/must"
)

// A server that accepts and says nothing more is named as that, though all of its
// connections are given up in the moment in which the wait for them ends.
func TestMuteHandshake(t *testing.T) {
	t.Parallel()
	for i := range 10 {
		for _, scheme := range []string{"https", "h2c"} {
			t.Run(fmt.Sprint(scheme, i), func(t *testing.T) {
				inMemory(t, func(t *testing.T, n *lan) {
					url := scheme + strings.TrimPrefix(rawAt(t, n.listen(), func(c net.Conn) { io.Copy(io.Discard, c) }), "http")
					_, err := n.run(t, load.Options{
						URLs: []string{url}, Connections: 4, Duration: 50 * time.Millisecond, Timeout: 100 * time.Millisecond,
						Began: func() { t.Error("the load began without a connection") }, Ended: func() { t.Error("and ended") },
					})
					want := "could not open any of 4 connections: " + url + ": no connection before the timeout: the server accepted the connection but sent nothing"
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("error %v", err)
					}
				})
			})
		}
	}
}

// A connection that waits for its turn to be opened does not wait for the server.
func TestWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	inMemory(t, func(t *testing.T, n *lan) {
		const takes = 50 * time.Millisecond
		o := servedAt(t, n.listen(), overPlain, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		o.Connections, o.Rate, o.Duration, o.Timeout = 5*atOnce, 100, 500*time.Millisecond, 2*takes
		p := must.Get(prepare(o))(t)
		p.engine = portable(func(ctx context.Context, network, address string) (net.Conn, error) {
			time.Sleep(takes)
			return n.dial(ctx, network, address)
		})
		r := must.Get(p.offer(t.Context(), []netip.AddrPort{netip.MustParseAddrPort(p.Targets[0].Address)}))(t)
		if r.Errors > 0 || r.Requests != 50 {
			t.Errorf("%d answered, %d connections failed, errors %v (%v)", r.Requests, r.FailedConnections, r.ErrorKinds, r.FirstError)
		}
	})
}

// If no connection has failed when the wait for all ends, the error says so.
func TestNothingCame(t *testing.T) {
	l := &lane{run: &run{plan: &plan{
		Prepared: &load.Prepared{Options: load.Options{Timeout: time.Minute}},
		targets:  []target{{Target: load.Target{URL: "http://a/"}}},
	}}}
	if err := l.noneOpen(4).Error(); err != "could not open any of 4 connections: http://a/: no connection before the timeout: nothing came within 5 s" {
		t.Error(err)
	}
}

// idleLoop is a loop of one connection of two streams, whose measured time has or has not
// started.
func idleLoop(from int64) (*loop, *conn) {
	w := &loop{net: nowhere{}}
	w.init(&run{
		plan: &plan{
			Prepared: &load.Prepared{Options: load.Options{Connections: 1, Streams: 2, Timeout: time.Minute}},
			targets:  []target{{Target: load.Target{URL: "http://a/"}}},
		},
		addresses: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1")},
		base:      time.Now().Add(-time.Hour), from: from,
	}, 0, 1)
	return w, &w.conns[0]
}

// nowhere is a network that opens nothing.
type nowhere struct{ network }

func (nowhere) open(*conn) {}

// openConn is a connection that was just opened.
type openConn struct{ wire.Conn }

func (openConn) Protocol() string { return wire.HTTP2 }
func (openConn) Spent() bool      { return true }

// While a connection is lost none of its places is free: how late its requests are is the
// server's doing, and no send lag. A request that is to be sent again keeps its time.
func TestPlacesAreFreeFromTheConnection(t *testing.T) {
	w, c := idleLoop(0)
	c.places[1].busy, c.places[1].again, c.wire = true, true, openConn{}
	w.opened(c)
	if at := time.Duration(c.places[0].freeAt); at < time.Hour || c.places[1].freeAt != 0 {
		t.Errorf("free since %v, and the busy one since %d", at, c.places[1].freeAt)
	}
}

// A connection that fails before the load starts is tried again, and is no error of the
// load.
func TestSetupFailureIsNoError(t *testing.T) {
	for i, from := range []int64{0, 1} {
		w, c := idleLoop(from)
		w.connect(c, 1)
		w.lose(c, &wire.Failure{Kind: load.KindRefused}, 2)
		if w.part.Errors != int64(i) || w.part.ErrorKinds[load.KindRefused] != int64(i) || w.part.FirstError.Kind != load.KindRefused {
			t.Errorf("measured from %d: %d errors, %v, the first %q", from, w.part.Errors, w.part.ErrorKinds, w.part.FirstError.Kind)
		}
	}
}

// A request has its time-out from its send: how late procfit itself sent it is not the server's
// doing.
func TestSentLateIsNoTimeout(t *testing.T) {
	w, c := idleLoop(0)
	w.part.SendLag = newHistogram()
	x, now := &c.places[0], w.clock()
	w.due(x, now-2*int64(w.Timeout), now)
	x.busy, x.again = true, true // it waits for its connection
	for i, after := range []int64{0, int64(w.Timeout)} {
		if w.expire(now + after); w.part.Errors != int64(i) || w.part.ErrorKinds[load.KindTimeout] != int64(i) {
			t.Errorf("%v after the send: %d failed, %v", time.Duration(after), w.part.Errors, w.part.ErrorKinds)
		}
	}
}

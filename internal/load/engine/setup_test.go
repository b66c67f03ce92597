package engine

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
)

// A server that accepts and says nothing more is named as that, though all of its
// connections are given up in the moment in which the wait for them ends.
func TestMuteHandshake(t *testing.T) {
	t.Parallel()
	for i := range 10 {
		for _, scheme := range []string{"https", "h2c"} {
			t.Run(fmt.Sprint(scheme, i), func(t *testing.T) {
				inMemory(t, func(t *testing.T, n *network) {
					url := scheme + strings.TrimPrefix(rawAt(t, n.listen(), func(c net.Conn) { io.Copy(io.Discard, c) }), "http")
					_, err := n.run(t, load.Options{URLs: []string{url}, Connections: 4, Duration: 50 * time.Millisecond, Timeout: 100 * time.Millisecond})
					want := "could not open any of 4 connections: " + url + ": no connection before the timeout: the server accepted the connection but sent nothing"
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("error %v", err)
					}
				})
			})
		}
	}
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

// openConn is a connection that was just opened.
type openConn struct{ wire.Conn }

func (openConn) Protocol() string { return wire.HTTP2 }

// While a connection is lost none of its places is free: how late its requests are is the
// server's doing, and no send lag. A request that is to be sent again keeps its time.
func TestPlacesAreFreeFromTheConnection(t *testing.T) {
	p := newPool(&run{
		plan: &plan{
			Prepared: &load.Prepared{Options: load.Options{Connections: 1, Streams: 2, Timeout: time.Minute}},
			targets:  []target{{Target: load.Target{URL: "http://a/"}}},
		},
		addresses: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1")},
		base:      time.Now().Add(-time.Hour),
	}, portable{})
	defer p.cancel()
	l := p.links[0]
	l.places[1].busy = true
	if !l.take(openConn{}) {
		t.Fatal("the pool is over")
	}
	if at := time.Duration(l.places[0].freeAt); at < time.Hour || l.places[1].freeAt != 0 {
		t.Errorf("free since %v, and the busy one since %d", at, l.places[1].freeAt)
	}
}

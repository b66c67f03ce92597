//go:build !portable

package engine

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/load"
)

// A server that answers before it gets anything, and closes, has the connection opened again
// by the event that it was opened: what else this event says is not of the new one.
func TestOpenedAgainByItsFirstEvent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := prepare(load.Options{URLs: []string{"http://" + l.Addr().String() + "/"}, Connections: 1, Duration: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	w := &loop{}
	w.init(&run{plan: p, addresses: []netip.AddrPort{l.Addr().(*net.TCPAddr).AddrPort()}, base: time.Now()}, 0, 1)
	e, err := newEpoll(w)
	if w.net = e; err != nil {
		t.Fatal(err)
	}
	defer e.close()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	unix.Write(ends[1], []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	unix.Close(ends[1])
	c := &w.conns[0]
	c.state, c.generation, c.stream = stateConnecting, 1, &descriptor{e, ends[0]}
	c.places[0].busy, c.places[0].again, w.busy = true, true, 1
	e.ready(c, unix.EPOLLIN|unix.EPOLLOUT)
	if c.generation != 2 || c.state != stateConnecting || w.requests != 1 {
		t.Errorf("attempt %d in state %d, %d answered", c.generation, c.state, w.requests)
	}
}

package engine

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/test/bufconn"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/test/must"
)

// readAfter is the time between the arrival of bytes and their reading by the client of a
// network in memory, and that of its dial. A closed loop without any latency would never end.
const readAfter = time.Millisecond

// lan is a network in memory, for a bubble of synctest: its connections block durably,
// which those of the kernel do not, so that the load of seconds takes milliseconds and every
// latency is exact.
type lan struct {
	listeners []*bufconn.Listener // at ports from 1
	silence   [2]time.Time        // the clients read nothing between these
	// dialling is full while one dials. A new connection has timers that are due at once, and of two that are
	// made at the same moment in a bubble the race detector of Go 1.26 crashes: both use its one context.
	dialling chan struct{}
}

// memory is a listener with an address of its own in a network.
type memory struct {
	*bufconn.Listener
	port int
}

func (m memory) Accept() (net.Conn, error) {
	c, err := m.Listener.Accept()
	return asNet{c}, err
}

func (m memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: m.port} }

// inMemory runs a test in a bubble with a network. When the test ends, servers that sleep get
// the time to wake up.
func inMemory(t *testing.T, f func(*testing.T, *lan)) {
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Hour) })
		f(t, &lan{dialling: make(chan struct{}, 1)})
	})
}

func (n *lan) listen() net.Listener {
	const buffer = 16 << 10
	n.listeners = append(n.listeners, bufconn.Listen(buffer))
	return memory{n.listeners[len(n.listeners)-1], len(n.listeners)}
}

func (n *lan) dial(ctx context.Context, _, address string) (net.Conn, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	if at.Port() == 0 || int(at.Port()) > len(n.listeners) {
		return nil, syscall.ECONNREFUSED
	}
	time.Sleep(readAfter)
	select {
	case n.dialling <- struct{}{}:
		defer func() { <-n.dialling }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c, err := n.listeners[at.Port()-1].DialContext(ctx)
	return dialled{asNet{c}, n}, err
}

// dialled is the client's end of a connection.
type dialled struct {
	asNet
	network *lan
}

func (d dialled) Read(b []byte) (int, error) {
	n, err := d.asNet.Read(b)
	time.Sleep(readAfter)
	if from, to := d.network.silence[0], d.network.silence[1]; !time.Now().Before(from) {
		time.Sleep(time.Until(to))
	}
	return n, err
}

// asNet is a connection with the errors of package net: crypto/tls ends a connection at a
// deadline whose error is not one of them.
type asNet struct{ net.Conn }

func (c asNet) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, netError(err)
}

func (c asNet) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, netError(err)
}

func netError(err error) error {
	var timeout net.Error
	switch {
	case errors.Is(err, io.ErrClosedPipe):
		return net.ErrClosed
	case errors.As(err, &timeout) && timeout.Timeout():
		return os.ErrDeadlineExceeded
	}
	return err
}

// run is Run over the network.
func (n *lan) run(t *testing.T, o load.Options) (*load.Result, error) {
	t.Helper()
	p := must.Get(prepare(o))(t)
	p.engine = portable(n.dial)
	var addresses []netip.AddrPort
	for _, target := range p.Targets {
		addresses = append(addresses, netip.MustParseAddrPort(target.Address))
	}
	return p.offer(t.Context(), addresses)
}

func (n *lan) mustRun(t *testing.T, o load.Options) *load.Result {
	t.Helper()
	return must.Get(n.run(t, o))(t)
}

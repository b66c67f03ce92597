//go:build !portable

package engine

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/loadtest"
	"github.com/procfit/procfit/test/must"
)

// connecting is a loop whose one connection, with a request under way, is one end of a pair of
// sockets. The test has the other end.
func connecting(t *testing.T) (e *epoll, c *conn, other int) {
	l := loopback(t)
	t.Cleanup(func() { l.Close() })
	p, err := prepare(load.Options{URLs: []string{"http://" + l.Addr().String() + "/"}, Connections: 1, Duration: time.Second})
	must.OK(t, err)
	w := &loop{}
	w.init(&run{plan: p, addresses: []netip.AddrPort{netip.MustParseAddrPort(l.Addr().String())}, base: time.Now()}, 0, 1)
	if e, err = newEpoll(w); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.close)
	ends := must.Get(unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0))(t)
	w.net, c = e, &w.conns[0]
	c.state, c.generation, c.stream = stateConnecting, 1, &descriptor{e, ends[0]}
	c.places[0].busy, c.places[0].again, w.busy = true, true, 1
	return e, c, ends[1]
}

// A server that answers before it gets anything, and closes, has the connection opened again
// by the event that it was opened: what else this event says is not of the new one.
func TestOpenedAgainByItsFirstEvent(t *testing.T) {
	e, c, other := connecting(t)
	unix.Write(other, []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	unix.Close(other)
	e.ready(c, unix.EPOLLIN|unix.EPOLLOUT)
	if c.generation != 2 || c.state != stateConnecting || e.w.part.Requests != 1 {
		t.Errorf("attempt %d in state %d, %d answered", c.generation, c.state, e.w.part.Requests)
	}
}

// A connection on which more comes than can be read is read in turn with the others.
func TestReadInTurns(t *testing.T) {
	const body, turns = 10_000, 5
	e, c, other := connecting(t)
	defer unix.Close(other)
	e.buf = make([]byte, body/turns/mostReads)
	sent := must.Get(unix.Write(other, append([]byte("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n"), bytes.Repeat([]byte("x"), body)...)))(t)
	e.ready(c, unix.EPOLLIN|unix.EPOLLOUT)
	for turn := 1; turn <= turns; turn++ {
		left := must.Get(unix.IoctlGetInt(c.stream.(*descriptor).fd, unix.TIOCINQ))(t)
		if read := sent - left; e.w.part.Requests > 0 || read != turn*mostReads*len(e.buf) {
			t.Fatalf("turn %d: %d bytes read, %d answered", turn, read, e.w.part.Requests)
		}
		must.OK(t, e.wait(e.w.clock()+int64(time.Minute)))
	}
	if e.w.part.Requests != 1 {
		t.Errorf("%d answered after all turns", e.w.part.Requests)
	}
}

// A run ends in time though its answers never do, whoever of the two is faster.
func TestEndlessAnswers(t *testing.T) {
	t.Parallel()
	own, _, _ := loadtest.MustSign(t, "127.0.0.1", time.Now().Add(-time.Minute))
	l := tls.NewListener(loopback(t), &tls.Config{Certificates: []tls.Certificate{own}})
	part := make([]byte, 1<<20)
	s := &http.Server{ErrorLog: quietLog(), Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, err := w.Write(part); err == nil; _, err = w.Write(part) {
		}
	})}
	t.Cleanup(func() { s.Close() })
	go s.Serve(l)
	o := load.Options{URLs: []string{"https://" + l.Addr().String() + "/"}, Connections: 4, Threads: 1, Duration: 500 * time.Millisecond, TLS: load.TLS{Insecure: true}}
	began := time.Now()
	r := mustRun(t, o)
	if took := time.Since(began); took > o.Duration+maxDrain+maxSetup || r.Requests > 0 || r.Errors > 0 || r.Unanswered == 0 {
		t.Errorf("it took %v; %d answered, %d unanswered; errors %v (%v)", took, r.Requests, r.Unanswered, r.ErrorKinds, r.FirstError)
	}
}

// What a turn has read and crypto/tls has no room for yet stays the connection's, though the others
// of its thread read into the same buffer.
func TestTurnsOverTLS(t *testing.T) {
	t.Parallel()
	const part, parts = 1 << 10, 32 // small records, for which crypto/tls makes little room
	own, _, _ := loadtest.MustSign(t, "127.0.0.1", time.Now().Add(-time.Minute))
	written := make(chan error, 2)
	url := rawAt(t, tls.NewListener(loopback(t), &tls.Config{Certificates: []tls.Certificate{own}}), func(c net.Conn) {
		_, err := http.ReadRequest(bufio.NewReader(c))
		if err == nil {
			_, err = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", part*parts)
		}
		for i := 0; i < parts && err == nil; i++ {
			_, err = c.Write(make([]byte, part))
		}
		written <- err
		_, _ = io.Copy(io.Discard, c)
	})
	p := must.Get(prepare(load.Options{URLs: []string{"https" + strings.TrimPrefix(url, "http")}, Connections: 2, Duration: time.Second, TLS: load.TLS{Insecure: true}}))(t)
	w := &loop{}
	w.init(&run{plan: p, addresses: []netip.AddrPort{netip.MustParseAddrPort(p.Targets[0].Address)}, base: time.Now(), end: math.MaxInt64}, 0, 1)
	e, err := newEpoll(w)
	t.Cleanup(e.close)
	must.OK(t, err)
	w.net = e
	must.OK(t, w.connectAll())
	w.sendAll(w.clock())
	for range w.conns {
		must.OK(t, <-written)
	}
	for i := range w.conns {
		e.reads = 1 // a turn of one read
		w.read(&w.conns[i])
	}
	e.reads = math.MaxInt
	for i := range w.conns {
		w.read(&w.conns[i])
	}
	for w.part.Requests < 2 && w.part.Errors == 0 { // if the kernel has some of it yet
		must.OK(t, e.wait(w.clock()+int64(time.Minute)))
	}
	if w.part.Errors > 0 {
		t.Errorf("%d answered; errors %v (%v)", w.part.Requests, w.part.ErrorKinds, w.part.FirstError)
	}
}

package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/procfit/procfit/internal/load"
)

// readBuffer is how much is read of a connection at once.
const readBuffer = 16 << 10

// http1 is a connection of HTTP/1.1.
type http1 struct {
	stream   net.Conn // that bytes go through: TLS or plain
	below    net.Conn // that is closed
	buf      []byte
	n        int // bytes in buf
	err      error
	out      []byte
	busy     bool
	sent     bool // the whole request
	spent    bool
	received int64
	response Response
}

func newHTTP1(stream, below net.Conn) *http1 {
	return &http1{stream: stream, below: below, buf: make([]byte, readBuffer)}
}

func (c *http1) Wait() { c.n, c.err = c.stream.Read(c.buf) }

func (c *http1) Take(done func(Event)) *Failure {
	if c.n > 0 {
		c.received += int64(c.n)
		if f := c.feed(done); f != nil {
			return f
		}
	}
	if c.err == nil {
		return nil
	}
	if errors.Is(c.err, io.EOF) && c.busy && c.response.End() {
		c.end(done)
	}
	return broken(c.err)
}

func (c *http1) feed(done func(Event)) *Failure {
	if !c.busy { // a 408 to a connection that was idle for too long, as a rule
		return &Failure{load.KindClosed, fmt.Sprintf("%d bytes without a request", c.n)}
	}
	used, whole, err := c.response.Feed(c.buf[:c.n])
	switch {
	case err != nil:
		return Malformed(err)
	case whole && IsAnswer(c.buf[used:c.n]):
		return &Failure{load.KindUnasked, ""}
	case whole:
		if used < c.n {
			// What follows the answer belongs to no request, and a client that cannot tell what
			// it is uses the connection no more (RFC 9112, section 6.3). It is reset: ended in
			// good order by us it would keep its port for a minute.
			c.spent = true
			if tcp, ok := c.below.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
		}
		c.end(done)
	}
	return nil
}

// IsAnswer reports that what came behind an answer begins another one, which no request asked
// for: it must not be taken for the answer to the next (RFC 9112, section 9.2), and the
// answers before it may have been. A 408 is of the connection that was idle for too long after
// its answer, which a busy client reads together with it.
func IsAnswer(behind []byte) bool {
	version, rest, _ := bytes.Cut(bytes.TrimLeft(behind, "\r\n"), []byte(" "))
	return bytes.HasPrefix(version, []byte("HTTP/1.")) && !bytes.HasPrefix(rest, []byte(strconv.Itoa(requestTimeout)))
}

func (c *http1) end(done func(Event)) {
	c.busy = false
	// TLS reports the connection's end together with the last bytes before it.
	c.spent = c.spent || !c.response.Keep || !c.sent || c.err != nil
	done(Event{Status: Status(c.response.Status), Retry: c.response.Unasked()})
}

func (c *http1) Start(_ int, r *Request) {
	c.busy, c.sent = true, false
	c.response.Reset(r.Head)
	c.out = r.Bytes
}

func (c *http1) Flush() *Failure {
	if len(c.out) == 0 {
		return nil
	}
	_, err := c.stream.Write(c.out)
	c.out = nil
	if err != nil {
		return broken(err)
	}
	c.sent = true
	return nil
}

// Cancel ends the connection: there is no other way to be rid of an answer.
func (c *http1) Cancel(int) load.Kind {
	c.busy, c.spent = false, true
	c.Close()
	switch {
	case !c.sent:
		return load.KindUnsent
	case c.response.begun():
		return load.KindUnfinished
	}
	return load.KindTimeout
}

func (c *http1) Spent() bool      { return c.spent }
func (c *http1) Protocol() string { return HTTP1 }
func (c *http1) Received() int64  { return c.received }
func (c *http1) Close() error     { return c.below.Close() }

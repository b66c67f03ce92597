package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/procfit/procfit/internal/load"
)

type http1 struct {
	out      []byte // of the request, not sent yet
	busy     bool
	spent    bool
	strayed  bool
	response Response
}

func (c *http1) Take(b []byte, end error, done func(Event)) *Failure {
	if len(b) > 0 {
		if f := c.feed(b, end, done); f != nil {
			return f
		}
	}
	if end == nil {
		return nil
	}
	if errors.Is(end, io.EOF) && c.busy && c.response.End() {
		c.end(end, done)
	}
	return Broken(end)
}

func (c *http1) feed(b []byte, end error, done func(Event)) *Failure {
	if !c.busy { // a 408 to a connection that was idle for too long, as a rule
		return &Failure{load.KindClosed, fmt.Sprintf("%d bytes without a request", len(b))}
	}
	used, whole, err := c.response.Feed(b)
	switch {
	case err != nil:
		return Malformed(err)
	case whole && isAnswer(b[used:]):
		return &Failure{load.KindUnasked, ""}
	case whole:
		// What follows the answer belongs to no request, and a client that cannot tell what it
		// is uses the connection no more (RFC 9112, section 6.3).
		c.strayed = used < len(b)
		c.end(end, done)
	}
	return nil
}

// isAnswer reports that what came behind an answer begins another one, which no request asked
// for: it must not be taken for the answer to the next (RFC 9112, section 9.2), and the
// answers before it may have been. A 408 is of the connection that was idle for too long after
// its answer, which a busy client reads together with it.
func isAnswer(behind []byte) bool {
	version, rest, _ := bytes.Cut(bytes.TrimLeft(behind, "\r\n"), []byte(" "))
	return bytes.HasPrefix(version, []byte("HTTP/1.")) && !bytes.HasPrefix(rest, []byte(strconv.Itoa(requestTimeout)))
}

func (c *http1) end(end error, done func(Event)) {
	c.busy = false
	// TLS reports the connection's end together with the last bytes before it.
	c.spent = c.strayed || !c.response.Keep || len(c.out) > 0 || end != nil
	done(Event{Status: Status(c.response.Status), Retry: c.response.Unasked()})
}

func (c *http1) Start(_ int, r *Request) {
	c.busy = true
	c.response.Reset(r.Head)
	c.out = r.Bytes
}

func (c *http1) Unsent() []byte { return c.out }
func (c *http1) Sent(n int)     { c.out = c.out[n:] }

// Cancel ends the connection: there is no other way to be rid of an answer.
func (c *http1) Cancel(int) load.Kind {
	c.busy, c.spent = false, true
	switch {
	case len(c.out) > 0:
		return load.KindUnsent
	case c.response.begun():
		return load.KindUnfinished
	}
	return load.KindTimeout
}

func (c *http1) Ready() bool      { return true }
func (c *http1) Spent() bool      { return c.spent }
func (c *http1) Strayed() bool    { return c.strayed }
func (c *http1) Protocol() string { return HTTP1 }

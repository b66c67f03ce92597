package engine

import (
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
	"github.com/procfit/procfit/internal/show/number"
)

type state uint8

const (
	stateClosed     state = iota // waits for retryAt
	stateConnecting              // since start, until it takes requests
	stateOpen
)

// conn is one of the connections, which is opened again when it is lost.
type conn struct {
	index      int32 // in loop.conns
	generation int32 // distinguishes what comes late of an earlier attempt
	target     int   // index into run.targets
	state      state
	served     bool // has answered since it was opened
	again      bool // a place has a request that is to be sent again
	unread     bool // its network has more of it to read
	failures   int  // in a row
	start      int64
	retryAt    int64
	blocked    int64 // since when nothing of what is to be sent has left; 0: nothing waits
	attempt    *attempt
	stream     stream    // nil: none
	wire       wire.Conn // nil: it is not connected
	done       func(wire.Event)
	places     []place
}

// place is where one request at a time is under way: a connection of HTTP/1.1 has one, one
// of HTTP/2 as many as streams.
type place struct {
	conn    *conn
	index   int
	start   int64 // the intended send in an open loop, the send in a closed one
	sentAt  int64 // what the time-out counts from
	freeAt  int64 // since when it is free
	request int32 // index into target.requests
	busy    bool  // has a request
	again   bool  // which is to be sent again
	silent  bool  // the request before it got no answer in time
	retries int   // how often the server has refused to start it
}

func (w *loop) connect(c *conn, now int64) {
	c.state, c.start, c.served = stateConnecting, now, false
	c.generation++
	w.net.open(c)
}

// began is since when the connection is being opened, its wait for a turn left out; notYet: it waits.
func (c *conn) began() int64 {
	if c.attempt != nil {
		return c.attempt.began.Load()
	}
	return c.start
}

// connected begins to speak on a stream.
func (w *loop) connected(c *conn, s stream, spoken wire.Conn) {
	c.stream, c.wire = s, spoken
	if spoken.Ready() {
		w.opened(c)
	}
	w.flush(c)
}

// opened makes the places idle, and starts again what an earlier connection had not. What
// waited while there was no connection waited for the server, and is no send lag.
func (w *loop) opened(c *conn) {
	c.state = stateOpen
	if w.part.Protocol = c.wire.Protocol(); w.GRPC != nil {
		w.part.Protocol = wire.ProtoRPC
	}
	now := w.clock()
	for i := range c.places {
		if x := &c.places[i]; x.busy {
			c.again = true
		} else {
			x.freeAt = now
			w.pushIdle(x)
		}
	}
	w.startAgain(c)
}

// startAgain starts what the server had not, unless it takes no more here.
func (w *loop) startAgain(c *conn) {
	if !c.again || c.wire.Spent() {
		return
	}
	c.again = false
	for i := range c.places {
		if x := &c.places[i]; x.again {
			x.again = false
			w.start(x)
		}
	}
}

// start starts the request that a place was given; it leaves with the next flush.
func (w *loop) start(x *place) {
	x.conn.wire.Start(x.index, w.targets[x.conn.target].requests[x.request])
}

func (w *loop) read(c *conn) {
	for more := true; more; {
		var b []byte
		var end error
		if b, more, end = c.stream.Read(); len(b) == 0 && end == nil {
			break
		}
		w.now = w.clock()
		if f := c.wire.Take(b, end, c.done); f != nil {
			w.lose(c, f, w.now)
			return
		}
		if c.state == stateConnecting && c.wire.Ready() {
			w.opened(c)
		}
		w.startAgain(c)
		if c.wire.Spent() && w.retire(c) {
			return
		}
	}
	if len(c.wire.Unsent()) > 0 {
		w.flush(c)
	}
}

// retire ends a connection that takes no more requests once none is under way on it.
func (w *loop) retire(c *conn) (ended bool) {
	w.drop(c)
	for i := range c.places {
		if x := &c.places[i]; x.busy && !x.again {
			return false
		}
	}
	w.reopen(c, w.clock())
	return true
}

func (w *loop) event(c *conn, e wire.Event) {
	x := &c.places[e.Place]
	gone := e.Retry && e.Failure == nil && e.Status == 0
	if gone && c.served || e.Retry && !gone && x.retries < wire.MostRetries {
		if !gone {
			x.retries++
		}
		x.again, c.again = true, true
		return
	}
	if gone {
		e.Failure = &wire.Failure{Kind: load.KindGoAway, Detail: "before anything was answered"}
	}
	if e.Failure != nil {
		w.failure(x, c.target, *e.Failure, w.now)
	} else {
		c.served, c.failures = true, 0
		w.answered(x, e.Status, w.now)
	}
	w.free(x, w.now)
}

// free ends the request of a place. It gets its next one when all that has come is read:
// what is sent in between would delay the readings behind it, and count as their latency.
func (w *loop) free(x *place, now int64) {
	x.busy, x.again, x.silent, x.retries, x.freeAt = false, false, false, 0, now
	w.busy--
	if c := x.conn; c.state == stateOpen && !c.wire.Spent() {
		w.pushIdle(x)
	}
}

// flush sends what is to be sent, unless the stream has to call first.
func (w *loop) flush(c *conn) {
	if c.blocked == 0 {
		w.write(c)
	}
}

func (w *loop) write(c *conn) {
	n, wait, err := c.stream.Write(c.wire.Unsent())
	c.wire.Sent(n)
	switch {
	case err != nil:
		// The server may have answered before it closed, a 413 for instance.
		c.blocked = w.clock()
		before := c.generation
		if w.read(c); c.generation == before && c.state != stateClosed {
			w.lose(c, wire.Broken(err), w.clock())
		}
	case !wait:
		c.blocked = 0
	case c.blocked == 0 || n > 0:
		c.blocked = w.clock()
	}
}

// lose ends the connection by a failure, and with it what is under way on it. That counts as
// at least as late as it waited: who retries it waits longer still. A server may end an idle
// connection at any time, and what it says then nobody has asked for, as a rule the 408 of one
// that waited too long for a request (RFC 9110, section 15.5.9): no request has failed by that.
// Before the load starts a failure is only noted: the connection is tried again.
func (w *loop) lose(c *conn, f *wire.Failure, now int64) {
	idle := c.state == stateOpen && (f.Kind == load.KindClosed || f.Kind == load.KindReset)
	counted := false
	c.state = stateClosed
	for i := range c.places {
		if x := &c.places[i]; x.busy && !x.again {
			w.failure(x, c.target, *f, now)
			w.free(x, now)
			counted = true
		}
	}
	switch {
	case counted:
	case w.from == 0 && (!idle || f.Detail != ""):
		w.note(c.target, f.Kind, f.Detail)
	case !idle:
		w.failure(nil, c.target, *f, now)
	}
	w.drop(c)
	if idle && !counted {
		w.reopen(c, now)
		return
	}
	w.shut(c)
	w.backOff(c, now)
}

// reopen replaces a connection that ended in good order: at once if it served, else like a
// failure, since a server that accepts and closes would have us spin.
func (w *loop) reopen(c *conn, now int64) {
	w.shut(c)
	if c.served {
		w.connect(c, now)
		return
	}
	w.backOff(c, now)
}

func (w *loop) shut(c *conn) {
	if c.attempt != nil {
		c.attempt.cancel()
	}
	if c.stream != nil {
		c.stream.Close(c.wire != nil && c.wire.Strayed())
	}
	c.attempt, c.stream, c.wire, c.state, c.again, c.blocked = nil, nil, nil, stateClosed, false, 0
}

func (w *loop) backOff(c *conn, now int64) {
	c.failures++
	c.retryAt = now + int64(min(maxBackoff, minBackoff<<min(c.failures-1, 10)))
	w.failing = min(w.failing, c.retryAt)
}

// look walks the connections for time-outs and for those to open again, and sets
// when to look next. Time-outs are seen up to a sixteenth late.
func (w *loop) look(now int64) {
	w.failing = now + int64(min(max(w.Timeout/16, minTick), maxTick))
	w.expire(now)
	for i := range w.conns {
		c := &w.conns[i]
		switch {
		case c.state != stateClosed:
		case c.retryAt > now:
			w.failing = min(w.failing, c.retryAt)
		default:
			w.connect(c, now)
		}
	}
}

func (w *loop) expire(now int64) {
	timeout := int64(w.Timeout)
	for i := range w.conns {
		c := &w.conns[i]
		switch {
		case c.state == stateConnecting && now-c.began() >= timeout:
			w.lose(c, &wire.Failure{Kind: load.KindConnectTimeout, Detail: w.silence(c)}, now)
		case c.blocked > 0 && now-c.blocked >= timeout:
			w.lose(c, &wire.Failure{Kind: load.KindUnsent, Detail: w.stopped()}, now)
		}
		late := false
		for k := range c.places {
			if x := &c.places[k]; x.busy && now-x.sentAt >= timeout {
				w.giveUp(x, now)
				late = true
			}
		}
		if late && c.state == stateOpen && !(c.wire.Spent() && w.retire(c)) {
			w.flush(c)
		}
	}
}

// silence is how a connection was not opened in time.
func (w *loop) silence(c *conn) string {
	if c.wire != nil || c.attempt != nil && c.attempt.accepted.Load() {
		return "the server accepted the connection but sent nothing"
	}
	return number.Chosen(w.Timeout)
}

func (w *loop) stopped() string {
	return "the server stopped reading it for " + number.Chosen(w.Timeout)
}

func (w *loop) giveUp(x *place, now int64) {
	f := wire.Failure{Kind: load.KindTimeout, Detail: "no answer within " + number.Chosen(w.Timeout)}
	if !x.again {
		switch f.Kind = x.conn.wire.Cancel(x.index); f.Kind {
		case load.KindUnfinished:
			f.Detail = "the answer started but did not end within " + number.Chosen(w.Timeout)
		case load.KindUnsent:
			f.Detail = w.stopped()
		}
	}
	w.failure(x, x.conn.target, f, now)
	w.free(x, now)
	x.silent = true
}

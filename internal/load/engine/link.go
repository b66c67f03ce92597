package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
	"github.com/procfit/procfit/internal/show/number"
)

const (
	minBackoff = 2 * time.Millisecond // after a failure; doubled up to
	maxBackoff = 250 * time.Millisecond
	minTick    = 5 * time.Millisecond // the finest look for time-outs
	maxTick    = 500 * time.Millisecond
)

// link is one of the connections, which is opened again when it is lost.
type link struct {
	pool     *pool
	target   int
	dialer   *wire.Dialer
	places   []place
	failures int  // in a row
	tried    bool // to connect; under the pool's lock
	current  wire.Conn

	writing atomic.Int64 // since when it sends; 0: not now
	unsent  atomic.Bool  // it was closed since that took too long

	mu     sync.Mutex // for conn, but for its Wait and Close
	conn   wire.Conn  // nil: none
	served bool       // has answered since it was opened
}

func newLink(p *pool, target int) *link {
	t := p.targets[target]
	l := &link{pool: p, target: target, places: make([]place, p.Streams), dialer: &wire.Dialer{
		Address: p.addresses[target].String(), TLS: p.tlsFor(t.Target), HTTP2: t.Scheme == load.SchemeH2C || p.GRPC != nil,
		Places: p.Streams, Timeout: p.Timeout, Open: p.open,
	}}
	for i := range l.places {
		l.places[i].link, l.places[i].index = l, i
	}
	return l
}

// work keeps the link open until the pool ends.
func (l *link) work(turn chan struct{}) {
	for l.pool.ctx.Err() == nil {
		turn <- struct{}{}
		conn, f := l.dialer.Dial(l.pool.ctx)
		<-turn
		l.pool.connecting(l, f, f == nil)
		good := f == nil && l.use(conn)
		if good {
			l.failures = 0
			continue
		}
		pause := min(maxBackoff, minBackoff<<min(l.failures, 10))
		l.failures++
		select {
		case <-l.pool.ctx.Done():
		case <-time.After(pause):
		}
	}
}

// use serves a connection until it ends, and reports whether that was in good order
// after it had answered; else it is not opened again at once, since a server that
// accepts and closes would have us spin.
func (l *link) use(conn wire.Conn) (good bool) {
	defer conn.Close()
	if !l.take(conn) {
		return false
	}
	l.mu.Lock()
	l.conn, l.served = conn, false
	f := l.refill()
	l.mu.Unlock()
	for spent := false; f == nil && !spent; {
		conn.Wait()
		l.mu.Lock()
		f = conn.Take(l.event)
		if failed := l.flush(); f == nil {
			f = failed
		}
		spent = conn.Spent() && !l.underWay()
		l.mu.Unlock()
	}
	return l.lose(f)
}

// take makes a connection the link's, so that the pool's end closes it. Its places are
// free from now on: what waited while there was no connection waited for the server, and
// is no send lag.
func (l *link) take(conn wire.Conn) bool {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.current = conn
	for i, now := 0, l.pool.clock(); i < len(l.places); i++ {
		if x := &l.places[i]; !x.busy {
			x.freeAt = now
		}
	}
	l.pool.protocol = conn.Protocol()
	if l.pool.GRPC != nil {
		l.pool.protocol = wire.ProtoRPC
	}
	return !l.pool.over
}

// end closes the connection from outside.
func (l *link) end() {
	l.pool.mu.Lock()
	conn := l.current
	l.pool.mu.Unlock()
	if conn != nil {
		conn.Close()
	}
}

// begin sends the first requests, or makes the places idle.
func (l *link) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		l.refill()
	}
}

// refill gives every free place of a connection its next request and sends again
// what an earlier one had not started. It is under mu, and so are those below.
func (l *link) refill() *wire.Failure {
	l.pool.mu.Lock()
	now := l.pool.clock() // under the lock: an older time may be before the start, and such a request is not counted
	l.pool.idle.drop(l)
	var send []*place
	for i := range l.places {
		x := &l.places[i]
		if x.again || !x.busy && l.pool.give(x, now) {
			x.again = false
			send = append(send, x)
		}
	}
	l.pool.mu.Unlock()
	for _, x := range send {
		l.start(x)
	}
	return l.flush()
}

func (l *link) start(x *place) {
	x.sent = true
	l.conn.Start(x.index, l.pool.targets[l.target].requests[x.request])
}

func (l *link) flush() *wire.Failure {
	l.writing.Store(l.pool.clock())
	defer l.writing.Store(0)
	return l.conn.Flush()
}

// underWay reports whether an answer is waited for.
func (l *link) underWay() bool {
	for i := range l.places {
		if l.places[i].sent {
			return true
		}
	}
	return false
}

// event is what became of a request.
func (l *link) event(e wire.Event) {
	p, x := l.pool, &l.places[e.Place]
	x.sent = false
	p.mu.Lock()
	now := p.clock()
	send := false
	switch gone := e.Retry && e.Failure == nil && e.Status == 0; {
	case p.over:
	case gone && l.served:
		x.again = true
	case e.Retry && !gone && x.retries < wire.MostRetries:
		x.retries++
		send = !l.conn.Spent()
		x.again = !send
	default:
		if gone {
			e.Failure = &wire.Failure{Kind: load.KindGoAway, Detail: "before anything was answered"}
		}
		if e.Failure != nil {
			p.fails(&x.exchange, l.target, *e.Failure, now)
		} else {
			l.served = true
			p.answered(&x.exchange, l.target, e.Status, now)
		}
		p.done(x, now)
		send = !l.conn.Spent() && p.give(x, now)
	}
	p.mu.Unlock()
	if send {
		l.start(x)
	}
}

// lose ends the connection and fails what is under way on it.
func (l *link) lose(f *wire.Failure) (good bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	p.bytesRead += l.conn.Received()
	p.idle.drop(l)
	l.conn = nil
	if p.over {
		return false
	}
	if l.unsent.Swap(false) {
		f = &wire.Failure{Kind: load.KindUnsent, Detail: "the server stopped reading it for " + number.Chosen(p.Timeout)}
	}
	quiet := f == nil || f.Kind == load.KindClosed || f.Kind == load.KindReset
	good = l.served && quiet
	for i := range l.places {
		x := &l.places[i]
		if x.sent {
			x.sent, good = false, false
			if f == nil {
				f = &wire.Failure{Kind: load.KindClosed}
			}
			p.fails(&x.exchange, l.target, *f, now)
			p.done(x, now)
			quiet = true // it is reported with what it ended
		}
	}
	if !quiet {
		p.fails(nil, l.target, *f, now)
	}
	return good
}

// watch looks for time-outs, which it sees up to a sixteenth late.
func (p *pool) watch() {
	tick := time.NewTicker(min(max(p.Timeout/16, minTick), maxTick))
	defer tick.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-tick.C:
		}
		for _, l := range p.links {
			l.look()
		}
	}
}

// look gives up what takes too long. A link whose lock is held is busy, or sends to
// a server that does not take it: then its connection is closed.
func (l *link) look() {
	p := l.pool
	if since := l.writing.Load(); since != 0 && p.clock()-since >= int64(p.Timeout) {
		l.unsent.Store(true)
		l.end()
		return
	}
	if !l.mu.TryLock() {
		return
	}
	defer l.mu.Unlock()
	var late []*place
	p.mu.Lock()
	now := p.clock()
	for i := range l.places {
		x := &l.places[i]
		if x.busy && (x.sent || x.again) && now-x.sentAt >= int64(p.Timeout) && !p.over {
			late = append(late, x)
		}
	}
	p.mu.Unlock()
	for _, x := range late {
		l.giveUp(x)
	}
	if l.conn != nil && len(late) > 0 {
		l.flush()
	}
}

// giveUp ends a request by the time-out, and gives its place the next one.
func (l *link) giveUp(x *place) {
	p := l.pool
	f := wire.Failure{Kind: load.KindTimeout, Detail: "no answer within " + number.Chosen(p.Timeout)}
	if x.sent {
		switch f.Kind = l.conn.Cancel(x.index); f.Kind {
		case load.KindUnfinished:
			f.Detail = "the answer started but did not end within " + number.Chosen(p.Timeout)
		case load.KindUnsent:
			f.Detail = "the server stopped reading it for " + number.Chosen(p.Timeout)
		}
		x.sent = false
	}
	p.mu.Lock()
	now := p.clock()
	p.fails(&x.exchange, l.target, f, now)
	p.done(x, now)
	send := l.conn != nil && !l.conn.Spent() && p.give(x, now)
	p.mu.Unlock()
	if send {
		l.start(x)
	}
}

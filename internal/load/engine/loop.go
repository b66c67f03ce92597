package engine

import (
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
)

const (
	minBackoff = 2 * time.Millisecond // after a failure; doubled up to
	maxBackoff = 250 * time.Millisecond
	minTick    = 5 * time.Millisecond // the finest look for time-outs
	maxTick    = 500 * time.Millisecond
	atOnce     = 128 // handshakes at a time: they cost the server
)

// loop is the worker of every run: the connections dealt to it, and what is sent on them
// when. It is for one goroutine at a time. How bytes come and go is its network's.
type loop struct {
	lane
	net      network
	speakers []*wire.Speaker // of the targets
	conns    []conn

	loading bool  // the common start was given
	sending bool  // between start and end, or last in an open loop
	busy    int   // places with a request
	now     int64 // when the bytes came that are handled
	failing int64 // when the next connection is to be looked at: back-off or time-out

	// The idle places in the order in which they became free, so that the replicas of an
	// open loop share the load evenly.
	idle     []*place
	idleHead int
	idleLen  int
}

// network is how the connections of one loop are opened, waited for and ended.
type network interface {
	// begin makes the calling goroutine the loop's, until end.
	begin() (end func(), err error)
	// open starts to connect: loop.connected or loop.lose follows.
	open(c *conn)
	// wait returns at the time, or when there was something to do and it is done.
	wait(until int64) error
	// wake ends a wait; any goroutine may call it.
	wake()
	// used is the CPU time so far of what carries out the load, and how many CPUs it can use.
	used() (user, system time.Duration, cpus int, err error)
	// close ends the connections, and returns when nothing uses the loop any more.
	close()
}

// stream is what bytes of a connection go over. It never waits.
type stream interface {
	// Read returns what has come, which is valid until the next call on any stream of the
	// loop, and whether there may be more. An error is the connection's end.
	Read() (b []byte, more bool, end error)
	// Write takes what it can of b. If it has to wait, the network calls loop.write when it
	// is time for the rest, which must not have changed.
	Write(b []byte) (n int, wait bool, err error)
	// Close ends the connection, by a reset if it is not to end in good order.
	Close(reset bool)
}

func (w *loop) init(r *run, id, of int) {
	w.lane.init(r, id, of)
	for _, t := range r.targets {
		w.speakers = append(w.speakers, &wire.Speaker{
			TLS: r.tlsFor(t.Target), HTTP2: t.Scheme == load.SchemeH2C || r.GRPC != nil, Places: r.Streams,
		})
	}
	for i := id; i < r.Connections; i += of {
		t := i % len(r.targets)
		w.conns = append(w.conns, conn{index: int32(len(w.conns)), target: t})
		w.part.PerURL[t].Connections += r.Streams
	}
	places := make([]place, len(w.conns)*r.Streams)
	w.idle = make([]*place, len(places))
	for i := range w.conns {
		c := &w.conns[i]
		c.done = func(e wire.Event) { w.event(c, e) }
		c.places = places[i*r.Streams:][:r.Streams]
		for k := range c.places {
			c.places[k].conn, c.places[k].index = c, k
		}
	}
}

// work connects, reports on setup, waits for the common start and loads.
func (w *loop) work(setup chan<- error) error {
	end, err := w.net.begin()
	if err == nil {
		defer end()
		err = w.connectAll()
	}
	setup <- err
	<-w.begin
	if err != nil || w.stop.Load() {
		return nil // reported on setup, or cancelled
	}
	if err := w.load(); err != nil || w.settled == 0 {
		return err
	}
	user, system, cpus, err := w.net.used()
	w.wall = time.Duration(w.clock()-w.settled) * time.Duration(cpus)
	w.part.User, w.part.System = user-w.part.User, system-w.part.System
	return err
}

// connectAll opens all connections; one that fails is tried again in the loop.
func (w *loop) connectAll() error {
	for i := range w.conns {
		w.connect(&w.conns[i], w.clock())
	}
	limit := w.clock() + int64(min(w.Timeout, maxSetup))
	for {
		open, waiting := 0, 0
		for i := range w.conns {
			switch w.conns[i].state {
			case stateConnecting:
				waiting++
			case stateOpen:
				open++
			}
		}
		now := w.clock()
		if waiting == 0 || now >= limit || w.stop.Load() {
			w.expire(now)
			if open == 0 && !w.stop.Load() {
				return w.noneOpen(len(w.conns))
			}
			return nil
		}
		if err := w.net.wait(limit); err != nil {
			return err
		}
	}
}

// load is the loop proper: it sends from start and returns when all is answered,
// at last, or when run.stop is set.
func (w *loop) load() error {
	w.loading, w.sending = true, true
	w.failing = w.clock() // sets the next look
	for {
		over, err := w.step()
		if err != nil {
			return err
		}
		if over {
			now := w.clock()
			for i := range w.conns {
				for k := range w.conns[i].places {
					if x := &w.conns[i].places[k]; x.busy {
						w.hanging(x, now)
					}
				}
			}
			w.unsent(now)
			return nil
		}
		if err := w.net.wait(w.next()); err != nil {
			return err
		}
	}
}

// step does what is due, and reports whether the run is over.
func (w *loop) step() (over bool, err error) {
	now := w.clock()
	if w.settled == 0 && now >= w.from {
		if w.part.User, w.part.System, _, err = w.net.used(); err != nil {
			return false, err
		}
		w.settled = now
	}
	now = w.sendAll(now)
	w.sending = now < w.end
	if w.Rate > 0 {
		w.sending = w.slot < w.slots
	}
	if now >= w.failing {
		w.look(now)
	}
	w.shown.Store(w.part.FailedRequests())
	return now >= w.last || w.stop.Load() || !w.sending && w.busy == 0, nil
}

// next is when the loop must run again though nothing has come.
func (w *loop) next() int64 {
	at := min(w.failing, w.last)
	if !w.sending {
		return at
	}
	if w.Rate == 0 {
		return min(at, w.end)
	}
	if w.idleLen > 0 {
		at = min(at, w.intended(w.slot))
	}
	return at
}

// sendAll gives idle places what is to be sent, and returns the time. What is given to
// places of one connection in a row leaves together.
func (w *loop) sendAll(now int64) int64 {
	for w.isDue(now) {
		c := w.idle[w.idleHead].conn
		for w.isDue(now) && w.idle[w.idleHead].conn == c {
			x := w.popIdle()
			if w.Rate > 0 {
				w.due(x, w.intended(w.slot), now)
			} else {
				w.another(x, now)
			}
			x.busy = true
			w.busy++
			w.start(x)
		}
		w.flush(c)
		now = w.clock()
	}
	return now
}

func (w *loop) isDue(now int64) bool {
	switch {
	case w.idleLen == 0:
		return false
	case w.Rate == 0:
		return now < w.end
	}
	return w.slot < w.slots && w.intended(w.slot) <= now
}

func (w *loop) pushIdle(x *place) {
	w.idle[(w.idleHead+w.idleLen)%len(w.idle)] = x
	w.idleLen++
}

// popIdle takes the place that has been idle longest.
func (w *loop) popIdle() *place {
	x := w.idle[w.idleHead]
	w.idleHead = (w.idleHead + 1) % len(w.idle)
	w.idleLen--
	return x
}

// drop takes a connection's places out of the idle ones. That is rare, so it walks.
func (w *loop) drop(lost *conn) {
	for range w.idleLen {
		if x := w.popIdle(); x.conn != lost {
			w.pushIdle(x)
		}
	}
}

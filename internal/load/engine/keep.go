package engine

import (
	"time"
)

const (
	// coarse is how long before a send the schedule sleeps by a timer of the runtime,
	// which may be late by a millisecond, and from then on by the system's finest.
	coarse = 2 * time.Millisecond
	// backlog is how often the schedule looks while what is due waits for a place:
	// those that become free take it themselves.
	backlog = 100 * time.Microsecond
)

// keepSchedule sends what is due while places are idle, until all is sent or the run
// is over.
func (p *pool) keepSchedule() {
	release := takeTimer()
	defer release()
	for {
		p.mu.Lock()
		now := p.clock()
		p.settle(now)
		x := p.nextDue(now)
		finished := p.slot >= p.slots
		at := now + int64(backlog)
		if p.idle.n > 0 && !finished {
			at = p.intended(p.slot)
		}
		p.mu.Unlock()
		if x != nil {
			x.link.send(x)
			continue
		}
		if finished || p.stop.Load() || now >= p.last {
			return
		}
		p.until(min(at, p.last))
	}
}

// nextDue gives an idle place what is due; nil: nothing is.
func (p *pool) nextDue(now int64) *place {
	if p.idle.n == 0 || p.slot >= p.slots {
		return nil
	}
	at := p.intended(p.slot)
	if at > now {
		return nil
	}
	x := p.idle.pop()
	p.due(&x.exchange, at, now)
	x.busy = true
	p.busy++
	return x
}

// until sleeps to the time, or until woken where it is far.
func (p *pool) until(at int64) {
	if left := time.Duration(at - p.clock()); left > coarse {
		p.sleep(at - int64(coarse)*3/4)
		return
	}
	if left := time.Duration(at - p.clock()); left > 0 {
		pause(left)
	}
}

// bigRequest is the size of a request from which on it may take the server's time to be
// sent, so that the schedule does not wait for that.
const bigRequest = 32 << 10

// send starts a request on a place that was idle.
func (l *link) send(x *place) {
	r := l.pool.targets[l.target].requests[x.request]
	if len(r.Bytes)+len(r.Body) >= bigRequest {
		go l.sendNow(x)
		return
	}
	l.sendNow(x)
}

func (l *link) sendNow(x *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil || l.conn.Spent() { // it was lost meanwhile
		l.pool.mu.Lock()
		x.again = true
		l.pool.mu.Unlock()
		return
	}
	l.start(x)
	_ = l.flush() // a failure ends the connection, which its reader sees
}

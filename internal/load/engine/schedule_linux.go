//go:build !portable

package engine

// sendDue sends what is due while connections are idle, and returns the time.
func (w *loop) sendDue(now int64) int64 {
	for w.idleLen > 0 && w.slot < w.slots {
		at := w.intended(w.slot)
		if now < at {
			break
		}
		w.sendSlot(w.popIdle(), at, now)
		now = w.clock()
	}
	return now
}

// sendSlot sends the next slot on a free connection and notes how late it is.
func (w *loop) sendSlot(c *conn, at, now int64) {
	w.due(&c.exchange, at, now)
	w.send(c)
}

func (w *loop) pushIdle(c *conn) {
	w.idle[(w.idleHead+w.idleLen)%len(w.idle)] = c
	w.idleLen++
}

// popIdle takes the connection that has been idle longest.
func (w *loop) popIdle() *conn {
	c := w.idle[w.idleHead]
	w.idleHead = (w.idleHead + 1) % len(w.idle)
	w.idleLen--
	return c
}

// drop takes a lost connection out of the idle ones. That is rare, so it walks.
func (w *loop) drop(lost *conn) {
	for range w.idleLen {
		if c := w.popIdle(); c != lost {
			w.pushIdle(c)
		}
	}
}

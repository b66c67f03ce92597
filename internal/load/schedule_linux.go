package load

import "math"

// intended is when a slot of this thread is to be sent.
func (w *worker) intended(slot int64) int64 {
	i := slot*int64(w.of) + int64(w.id)
	return w.start + int64(float64(i)*1e9/w.Rate)
}

// sendDue sends what is due while connections are idle, and returns the time.
func (w *worker) sendDue(now int64) int64 {
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
func (w *worker) sendSlot(c *conn, at, now int64) {
	w.slot++
	w.lag.RecordValue(min(max(0, now-max(at, c.freeAt)), int64(maxLatency)))
	w.send(c, at)
}

func (w *worker) pushIdle(c *conn) {
	w.idle[(w.idleHead+w.idleLen)%len(w.idle)] = c
	w.idleLen++
}

// popIdle takes the connection that has been idle longest.
func (w *worker) popIdle() *conn {
	c := w.idle[w.idleHead]
	w.idleHead = (w.idleHead + 1) % len(w.idle)
	w.idleLen--
	return c
}

// drop takes a lost connection out of the idle ones. That is rare, so it walks.
func (w *worker) drop(lost *conn) {
	for range w.idleLen {
		if c := w.popIdle(); c != lost {
			w.pushIdle(c)
		}
	}
}

// censor enters what has not ended as lasting at least until now, and counts the
// slots that were due and never sent. They are taken in about 1,000 groups, each
// at its middle.
func (w *worker) censor(now int64) {
	for i := range w.conns {
		if c := &w.conns[i]; c.state == stateBusy {
			w.unanswered++
			w.record(now - c.start)
		}
	}
	due := w.slots
	if w.Rate > 0 && now < w.end { // cancelled: the rest was not intended yet
		elapsed := float64(now-w.start) * w.Rate / 1e9
		due = min(due, int64(math.Ceil((elapsed-float64(w.id))/float64(w.of))))
	}
	step := max(1, (due-w.slot)/1000)
	for ; w.slot < due; w.slot += step {
		n := min(step, due-w.slot)
		waited := now - w.intended(w.slot+n/2)
		w.latency.RecordValues(min(max(waited, 1), int64(maxLatency)), n)
		w.dropped += n
	}
}

package load

import "math"

// intended is when a slot of this thread is to be sent.
func (w *worker) intended(slot int64) int64 {
	return w.start + w.after(slot*int64(w.of)+int64(w.id))
}

// after is how long after the first request that of a number is intended.
func (r *run) after(number int64) int64 { return int64(float64(number) * 1e9 / r.Rate) }

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
	if at >= w.from {
		w.lag.RecordValue(min(max(0, now-max(at, c.freeAt)), int64(maxLatency)))
	}
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
// slots that were due and never sent, but for those of the settling. They are
// taken in about 1,000 groups, each at its middle.
func (w *worker) censor(now int64) {
	for i := range w.conns {
		if c := &w.conns[i]; c.state == stateBusy {
			w.unanswered++
			w.perURL[c.target].Unanswered++
			w.record(now - c.start)
		}
	}
	due := w.slots
	if w.Rate > 0 && now < w.end { // cancelled: the rest was not intended yet
		due = min(due, w.share(int64(math.Ceil(float64(now-w.start)*w.Rate/1e9))))
	}
	w.slot = max(w.slot, w.share(w.settling))
	step := max(1, (due-w.slot)/1000)
	for ; w.slot < due; w.slot += step {
		n := min(step, due-w.slot)
		waited := now - w.intended(w.slot+n/2)
		w.latency.RecordValues(min(max(waited, 1), int64(maxLatency)), n)
		w.dropped += n
	}
}

// share is how many of the first n requests of the schedule are this thread's.
func (w *worker) share(n int64) int64 {
	return max(0, (n-int64(w.id)+int64(w.of)-1)/int64(w.of))
}

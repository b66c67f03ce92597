package live

import (
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
)

// sight is what one look at the meter saw: the differences since the look before it.
type sight struct {
	Seconds             float64
	Ended, Failed, Slow uint64  // requests
	Sojourn             float64 // seconds from arrival, of all that ended, together
	InFlight            uint64  // at the end of the look, between the start of their handler and its end
	Uncounted           bool    // nothing is known of requests
	Seen                map[string]float64
	Throttled           float64 // judge.FigureThrottled, at least
}

// Harm is looked for four times a second. Two bad looks in a row are no chance, and more
// looks would let more requests wait.
const (
	looksInARow = 2
	// A limit below 20 requests would be one that bursts reach.
	leastLimit = 20.0
	timesUsual = 2.0
)

// leastLimits are those of metrics that are seen from outside: below them nothing piles up,
// whatever the baseline had.
var leastLimits = []struct {
	metric string
	limit  float64
}{
	{judge.FigureUnread, leastLimit},
	{judge.FigureRunnable, leastLimit},
	{judge.FigureThrottled, 0.5},
}

// wire trips where requests pile up. A copy of it is for one visit of a value.
type wire struct {
	Most float64 // that were in the system in a look of the baseline
	rate float64 // requests per second of the baseline
	idle int     // looks in a row in which nothing ended, at most, in the baseline
	// usual is the most of each metric that is seen from outside in a look of the baseline. A
	// metric that was not seen there has no limit.
	usual map[string]float64
	// Looks in a row, now: in which nothing ended, and that were bad.
	empty, bad int
	beyond     *journal.Beyond // of the last look; nil: no metric that is seen from outside
}

// newWire freezes the limit by the baseline's looks: learned from later slices, it would take
// for usual what a bad value leaves behind.
func newWire(baseline []sight) wire {
	w := wire{usual: map[string]float64{}}
	ended, seconds := 0.0, 0.0
	for _, s := range baseline {
		ended, seconds = ended+float64(s.Ended), seconds+s.Seconds
		w.idle = max(w.idle, w.still(s))
		for name, x := range s.Seen {
			w.usual[name] = max(w.usual[name], x)
		}
		w.usual[judge.FigureThrottled] = max(w.usual[judge.FigureThrottled], s.Throttled)
	}
	if seconds > 0 {
		w.rate = ended / seconds
	}
	w.empty = 0
	for _, s := range baseline {
		w.Most = max(w.Most, w.InSystem(s))
	}
	return w
}

// InSystem is how many requests wait or are served, by Little's law: what arrives per second
// times what a request stays. Requests in flight alone do not say it: a queue is in sockets
// that nobody has read yet. Where a value carries less than what arrives, what ends per
// second is less too, and the baseline's requests per second say what arrives.
func (w wire) InSystem(s sight) float64 {
	n := float64(s.InFlight)
	if s.Ended > 0 && s.Seconds > 0 {
		n = max(n, max(w.rate, float64(s.Ended)/s.Seconds)*s.Sojourn/float64(s.Ended))
	}
	return n
}

// Limit is what a look may have in the system.
func (w wire) Limit() float64 { return max(leastLimit, timesUsual*w.Most) }

// still is in how many looks in a row nothing ended, with this one.
func (w *wire) still(s sight) int {
	if w.empty++; s.Ended > 0 || s.Uncounted {
		w.empty = 0
	}
	return w.empty
}

// Look reports that the value must be left now: too many are in the system, or nothing ends
// any more.
func (w *wire) Look(s sight) bool {
	w.beyond = w.over(s, timesUsual)
	if still := float64(w.still(s)); w.InSystem(s) > w.Limit() || still > timesUsual*float64(w.idle) || w.beyond != nil {
		w.bad++
	} else {
		w.bad = 0
	}
	return w.bad >= looksInARow
}

// over is the first metric seen from outside that is more than so many times its usual.
func (w wire) over(s sight, times float64) *journal.Beyond {
	for _, l := range leastLimits {
		x, seen := s.Seen[l.metric]
		if l.metric == judge.FigureThrottled {
			x, seen = s.Throttled, true
		}
		if usual, known := w.usual[l.metric]; seen && known && x > max(l.limit*times/timesUsual, times*usual) {
			return &journal.Beyond{Metric: l.metric, Value: x, Usual: usual}
		}
	}
	return nil
}

// Drained reports that what a value left behind has ended.
func (w wire) Drained(s sight) bool {
	return w.InSystem(s) <= w.Limit()/timesUsual && (s.Ended > 0 || s.Uncounted || w.idle > 0) && w.over(s, 1) == nil
}

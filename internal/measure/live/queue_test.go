package live

import "math/rand/v2"

// look is how often harm is looked for.
const look = 0.25

// queue is a program that serves one request after the other in the order of their
// arrival. A middleware sees the one that it serves alone.
type queue struct {
	r        *rand.Rand
	rate     float64 // requests per second that arrive
	bursts   bool    // in 2% of the looks 1.6 times, and in 1% nothing is served for 0.1 s
	capacity float64 // requests per second
	fails    float64 // share of the requests
	at, next float64 // seconds; of the next arrival
	free     float64 // when the next one can be served
	waiting  []float64
}

// slow is what takes longer.
const slow = 0.1

// look runs the program until the next look.
func (q *queue) look() (s sight) {
	until, rate := q.at+look, q.rate
	if chance := q.r.Float64(); q.bursts && chance < 0.01 {
		q.free = max(q.free, q.at+0.1)
	} else if q.bursts && chance < 0.03 {
		rate *= 1.6
	}
	for q.next < until {
		q.waiting = append(q.waiting, q.next)
		q.next += q.r.ExpFloat64() / rate
	}
	for len(q.waiting) > 0 {
		done := max(q.waiting[0], q.free) + 1/q.capacity
		if done > until {
			s.InFlight = 1
			if q.capacity == 0 { // until it can be served again
				q.free = until
			}
			break
		}
		sojourn := done - q.waiting[0]
		s.Ended, s.Sojourn, q.free, q.waiting = s.Ended+1, s.Sojourn+sojourn, done, q.waiting[1:]
		switch {
		case q.r.Float64() < q.fails:
			s.Failed++
		case sojourn > slow:
			s.Slow++
		}
	}
	q.at, s.Seconds = until, look
	return s
}

// run is so many seconds of looks.
func (q *queue) run(seconds float64) (list []sight) {
	for range int(seconds / look) {
		list = append(list, q.look())
	}
	return list
}

// carry lets the program carry a multiple of what arrives.
func (q *queue) carry(times float64) *queue {
	q.capacity = times * q.rate
	return q
}

// newQueue has had its minute of baseline.
func newQueue(seed uint64, rate float64, bursts bool) (*queue, []sight) {
	q := &queue{r: rand.New(rand.NewPCG(seed, uint64(rate))), rate: rate, bursts: bursts}
	return q, q.carry(2).run(60)
}

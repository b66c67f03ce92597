package watch

import (
	"math"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
)

// The most points of each process and of all processes: 2,000 processes with 600 points
// take 29 MB.
const (
	mostPoints  = 600
	fewPoints   = 60
	totalPoints = 2_000 * mostPoints
)

// point has the values of a process in one scan; unknown values are NaN.
type point struct {
	at     float32 // seconds since the start of the view
	values [series]float32
}

// The series of a history.
const (
	ofProcs = iota
	ofThrottled
	ofLatency
	ofWait
	ofThrottledTime
	series
)

type history struct {
	points []point
	total  int // ever added
}

// add appends a point and drops old ones, so that most remain.
func (h *history) add(p observe.Process, at time.Duration, most int) {
	if len(h.points) >= most+most/4 { // shifted now and then, not each time
		h.points = h.points[:copy(h.points, h.points[len(h.points)-most+1:])]
	}
	if n := len(h.points); n == cap(h.points) { // append alone would take up to twice as much
		h.points = append(make([]point, 0, min(max(16, 2*n), most+most/4)), h.points...)
	}
	h.points = append(h.points, newPoint(p, at))
	h.total++
}

// last returns the newest points to show.
func (h *history) last() []point {
	return h.points[max(0, len(h.points)-mostPoints):]
}

// room is how many points each of n processes can have.
func room(n int) int {
	return min(mostPoints, max(fewPoints, totalPoints/max(1, n)))
}

// newPoint takes the counters since the previous scan. The first scan of a process gives
// no point: an average over its whole life does not belong into a curve.
func newPoint(p observe.Process, at time.Duration) point {
	pt := point{at: float32(at.Seconds())}
	for i := range pt.values {
		pt.values[i] = float32(math.NaN())
	}
	set := func(i int, v float64, known bool) {
		if known {
			pt.values[i] = float32(v)
		}
	}
	n, known := p.Procs()
	set(ofProcs, float64(n), known)
	if p.Recent == nil {
		return pt
	}
	c := *p.Recent
	v, known := c.LatencyAt(0.99)
	set(ofLatency, v, known)
	v, known = c.Waiting()
	set(ofWait, v, known)
	if t := c.Throttling; t != nil {
		set(ofThrottled, t.Ratio(), true)
		set(ofThrottledTime, t.Throttled.Seconds()/c.Span.Seconds(), c.Span > 0)
	}
	return pt
}

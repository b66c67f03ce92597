package watch

import (
	"math"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
)

// Points are kept of each process, and of all together: 2,000 processes of 600
// points are 29 MB.
const (
	mostPoints  = 600
	fewPoints   = 60
	totalPoints = 2_000 * mostPoints
)

// point is what one scan said of a process; what is not known is NaN.
type point struct {
	at     float32 // seconds since the view began
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
	total  int // that there ever were
}

// add keeps a point, and of the ones before so many that most remain.
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

// last are the newest points that are to be shown.
func (h *history) last() []point {
	return h.points[max(0, len(h.points)-mostPoints):]
}

// room is how many points each of n processes may have.
func room(n int) int {
	return min(mostPoints, max(fewPoints, totalPoints/max(1, n)))
}

// newPoint takes what was counted since the scan before. In the first scan of a
// process there is none: an average over its life would be no point of a curve.
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

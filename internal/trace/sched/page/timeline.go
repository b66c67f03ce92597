package page

import (
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/trace/sched"
)

// holdIntervals is how many intervals a point may stand for what was not
// seen after it.
const holdIntervals = 3

// slot is a point's place in time.
type slot struct {
	document.Span
	when string
}

// timeline is the points of the longest process.
type timeline struct {
	points []sched.Point
	slots  []slot
	axis   document.Axis // seconds
}

func newTimeline(s *sched.Summary, most int) *timeline {
	m := s.Main
	t := &timeline{points: s.Series}
	if most > 0 {
		t.points = reduce(t.points, most)
	}
	interval := 0.0
	if m.IntervalMedian != nil {
		interval = *m.IntervalMedian
	}
	// The last sample stands for an interval too, or one alone would have no width.
	end := float64(m.ToMillis) + max(interval, 1)
	t.axis = document.AxisBetween(float64(m.FromMillis)/1000, end/1000)
	for i, p := range t.points {
		until := end
		if i+1 < len(t.points) {
			until = float64(t.points[i+1].FromMillis)
		}
		until = min(until, float64(p.ToMillis)+max(1, holdIntervals*interval))
		when := clock(p.FromMillis, interval)
		if p.ToMillis > p.FromMillis {
			when = strings.TrimSuffix(when, " s") + "–" + clock(p.ToMillis, interval)
		}
		t.slots = append(t.slots, slot{document.Span{From: t.axis.At(float64(p.FromMillis) / 1000), To: t.axis.At(until / 1000)}, when})
	}
	return t
}

// clock is a time in seconds, as exact as the interval needs.
func clock(ms int64, interval float64) string {
	decimals := 0
	switch {
	case interval < 20:
		decimals = 3
	case interval < 200:
		decimals = 2
	case interval < 2000:
		decimals = 1
	}
	return strconv.FormatFloat(float64(ms)/1000, 'f', decimals, 64) + " s"
}

// reduce joins neighbours until at most that many are left.
func reduce(points []sched.Point, most int) []sched.Point {
	if len(points) <= most {
		return points
	}
	each := (len(points) + most - 1) / most
	var out []sched.Point
	for from := 0; from < len(points); from += each {
		out = append(out, sched.Join(points[from:min(from+each, len(points))]))
	}
	return out
}

// ticks are at round times since the start of the process.
func (t *timeline) ticks() (list []document.Tick) {
	for _, at := range t.axis.Ticks() {
		label := "0"
		if at != 0 {
			label = strconv.FormatFloat(math.Round(at*1e6)/1e6, 'f', -1, 64) + " s"
		}
		list = append(list, document.Tick{At: t.axis.At(at), Label: label})
	}
	return list
}

package view

import (
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/axis"
	"github.com/procfit/procfit/internal/trace/sched"
)

// Tick is a labelled place on an axis.
type Tick struct {
	At    float64
	Label string
}

// holdIntervals is how many intervals a point may stand for what was not
// seen after it.
const holdIntervals = 3

// slot is a point's place in time.
type slot struct {
	From, Until float64 // fractions
	When        string
}

// timeline is the points of the longest process.
type timeline struct {
	points   []sched.Point
	slots    []slot
	from, to float64 // milliseconds
}

func newTimeline(s *sched.Summary, most int) *timeline {
	m := s.Main
	t := &timeline{from: float64(m.FromMillis), to: float64(m.ToMillis), points: s.Series}
	if most > 0 {
		t.points = reduce(t.points, most)
	}
	interval := 0.0
	if m.IntervalMedian != nil {
		interval = *m.IntervalMedian
	}
	// The last sample stands for an interval too, or one alone would have no width.
	t.to += max(interval, 1)
	for i, p := range t.points {
		until := t.to
		if i+1 < len(t.points) {
			until = float64(t.points[i+1].FromMillis)
		}
		until = min(until, float64(p.ToMillis)+max(1, holdIntervals*interval))
		when := clock(p.FromMillis, interval)
		if p.ToMillis > p.FromMillis {
			when = strings.TrimSuffix(when, " s") + "–" + clock(p.ToMillis, interval)
		}
		t.slots = append(t.slots, slot{t.at(float64(p.FromMillis)), t.at(until), when})
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

// reduce joins neighbours until at most so many are left.
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

func (t *timeline) at(ms float64) float64 {
	return min(1, max(0, (ms-t.from)/(t.to-t.from)))
}

// ticks are at round times since the start of the process.
func (t *timeline) ticks() []Tick {
	round := axis.New(0, (t.to-t.from)/2000, false).Ticks() // of half the time: twice as many
	if len(round) < 2 {
		return nil
	}
	step := round[1] * 1000
	var out []Tick
	for n := float64(int64(t.from/step+0.999999)) * step; n <= t.to; n += step {
		label := strconv.FormatFloat(math.Round(n*1000)/1e6, 'f', -1, 64) + " s"
		if n == 0 {
			label = "0"
		}
		out = append(out, Tick{t.at(n), label})
	}
	return out
}

package watch

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
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

// curve is one series of a history, fitted to a number of columns.
type curve struct {
	cells         []float64 // the highest value of each cell; NaN: not known
	now, min, max float64   // NaN: none
	perCell       int       // points
}

// perCells are the possible numbers of points per cell. There are few, so that the curve
// rarely jumps.
var perCells = []int{1, 2, 3, 5, 10, 20, 50, 100, mostPoints}

// newCurve puts the newest point at the right. Cells begin at multiples of their
// size in the whole history, so that a peak does not change its shape as it moves.
func newCurve(h *history, which, width int) curve {
	points := h.last()
	c := curve{now: math.NaN(), min: math.NaN(), max: math.NaN(), perCell: 1}
	if width <= 0 || len(points) == 0 {
		return c
	}
	first := h.total - len(points)
	for _, n := range perCells {
		c.perCell = n
		if (h.total-1)/n-first/n+1 <= width {
			break
		}
	}
	cell := func(i int) int { return (first + i) / c.perCell }
	from := max(cell(0), cell(len(points)-1)-width+1)
	c.cells = slices.Repeat([]float64{math.NaN()}, cell(len(points)-1)-from+1)
	for i, p := range points {
		v := float64(p.values[which])
		if cell(i) < from || math.IsNaN(v) {
			continue
		}
		c.cells[cell(i)-from] = larger(c.cells[cell(i)-from], v)
		c.max, c.min = larger(c.max, v), -larger(-c.min, -v)
	}
	c.now = float64(points[len(points)-1].values[which])
	return c
}

// larger ignores NaN.
func larger(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

func (c curve) known() bool { return !math.IsNaN(c.max) }

// draw returns the lines of a curve from 0 to its maximum, the top line first. 0 is the
// lowest bar, and anything above 0 is higher.
func (l look) draw(c curve, width, height int) []string {
	bars := l.bars()
	lines := make([]string, height)
	for r := range height {
		below := len(bars) * (height - 1 - r)
		var b strings.Builder
		b.WriteString(strings.Repeat(" ", max(0, width-len(c.cells))))
		for _, v := range c.cells {
			if n := level(v, c.max, len(bars)*height) - below; n > 0 {
				b.WriteRune(bars[min(n, len(bars))-1])
			} else {
				b.WriteByte(' ')
			}
		}
		lines[r] = b.String()
	}
	return lines
}

func level(v, most float64, steps int) int {
	switch {
	case math.IsNaN(v):
		return 0
	case v <= 0 || most <= 0:
		return 1
	}
	return max(min(2, steps), 1+int(math.Round(v/most*float64(steps-1))))
}

type curveRow struct {
	which int
	label string
	value func(float64) string
	style style  // of its own for throttling
	none  string // why there can be no values
}

func (m *model) curveRows() []curveRow {
	return []curveRow{
		{ofProcs, "GOMAXPROCS", number.Exact, cyan, "not known"},
		{ofThrottled, "throttled", number.Share, yellow, "no limit, or it cannot be read"},
		{ofLatency, "latency p99", m.span, cyan, "not known, or nothing was scheduled"},
		{ofWait, "threads waiting", number.Hundredths, cyan, "not known"},
		{ofThrottledTime, "incl. throttled", number.Hundredths, yellow, "no limit, or it cannot be read"},
	}
}

func (m *model) curves(r *row) []string {
	const figures = 3 * (figureWidth + 1)
	width := max(4, m.width-labelWidth-figures-1)
	height := 1
	switch {
	case m.height >= 50:
		height = 3
	case m.height >= 36:
		height = 2
	}
	points, past := r.history.last(), time.Duration(0)
	if len(points) > 0 {
		past = time.Duration(float64(points[len(points)-1].at-points[0].at) * float64(time.Second))
	}
	title := "last " + number.Minutes(past)
	if n := newCurve(&r.history, ofProcs, width).perCell; n > 1 {
		title += fmt.Sprintf(", %d scans per cell", n)
	}
	lines := []string{m.bar(m.pad("HISTORY", labelWidth, false) + m.pad(title, width, false) + m.figures("now", "min", "max"))}
	for _, c := range m.curveRows() {
		curve := newCurve(&r.history, c.which, width)
		label := m.pad(c.label, labelWidth, false)
		if !curve.known() {
			why := phrase.If(r.history.total <= 1 && c.which != ofProcs, "from the next scan on", c.none)
			lines = append(lines, m.paint(faint, label+why))
			continue
		}
		now := inspect.Unknown
		if !math.IsNaN(curve.now) {
			now = c.value(curve.now)
		}
		for i, bars := range m.draw(curve, width, height) {
			line, figures := m.pad("", labelWidth, false), ""
			if i == height-1 {
				line, figures = label, m.figures(now, c.value(curve.min), c.value(curve.max))
			}
			lines = append(lines, line+m.paint(c.style, bars)+figures)
		}
	}
	return lines
}

const figureWidth = 7

func (m *model) figures(values ...string) (line string) {
	for _, v := range values {
		line += " " + m.pad(v, figureWidth, true)
	}
	return line
}

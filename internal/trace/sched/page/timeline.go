package page

import (
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
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

// measure is a quantity to be charted.
type measure struct {
	name, alone string
	whole       *sched.Level
	at          func(*sched.Point) *sched.Level
}

// block has a chart of each quantity that is known; nil: none is.
func (t *timeline) block(st *sched.Stats) *document.Timeline {
	b := &document.Timeline{Ticks: t.ticks(), Lanes: t.queues(),
		Key: "Each curve is the mean of the samples in an interval; the band around it goes from the lowest to the highest. A gap means that there is no sample. Point at or tap a place to see its values."}
	add := func(c document.Course, format func(float64) string, ax document.Axis, list ...measure) {
		for _, m := range list {
			if m.whole != nil {
				c.Curves = append(c.Curves, t.curve(m, format, ax))
			}
		}
		if len(c.Curves) == 0 {
			return
		}
		for _, x := range ax.Ticks() {
			label := format(x)
			if x == 0 {
				label = "0"
			}
			c.Ticks = append(c.Ticks, document.Tick{At: ax.At(x), Label: label})
		}
		b.Charts = append(b.Charts, c)
	}
	procsOf := func(p *sched.Point) *sched.Level { return p.Procs }
	idle := func(p *sched.Point) *sched.Level { return p.IdleProcs }
	local := func(p *sched.Point) *sched.Level { return p.LocalQueues }
	global := func(p *sched.Point) *sched.Level { return p.GlobalQueue }
	threads := func(p *sched.Point) *sched.Level { return p.Threads }
	parked := func(p *sched.Point) *sched.Level { return p.IdleThreads }
	spinning := func(p *sched.Point) *sched.Level { return p.Spinning }
	uneven := func(p *sched.Point) *sched.Level { return p.Misplaced }

	ax := t.high(procsOf, idle)
	c := document.Course{Title: "Idle Ps", Note: "of GOMAXPROCS; a P that is not idle runs Go code, the collector or the scheduler"}
	list := []measure{{"idle", "idle Ps", st.IdleProcs, idle}}
	if p := st.Procs; p != nil && p.Min == p.Max {
		c.Reference = &document.Tick{At: ax.At(p.Max), Label: "GOMAXPROCS " + number.Amount(p.Max)}
	} else if p != nil {
		list = append(list, measure{"GOMAXPROCS", "GOMAXPROCS", p, procsOf})
	}
	add(c, number.Amount, ax, list...)
	add(document.Course{Title: "Waiting goroutines", Note: "in the queues of the Ps and in the global queue; the goroutine that a P runs next is in neither"},
		number.Amount, t.high(local, global),
		measure{"on Ps", "queued on Ps", st.LocalQueues, local}, measure{"global", "queued globally", st.GlobalQueue, global})
	add(document.Course{Title: "Imbalance of the queues", Note: "the share of the goroutines queued on Ps that would have to move to make all queues equally long; known if two per P are waiting"},
		number.Share, document.NewAxis(0, 1, false), measure{"misplaced", "imbalance", st.Misplaced, uneven})
	add(document.Course{Title: "Threads", Note: "of the runtime, including sysmon; idle ones are parked because they have no work"},
		number.Amount, t.high(threads, parked), measure{"all", "threads", st.Threads, threads}, measure{"idle", "idle threads", st.IdleThreads, parked})
	add(document.Course{Title: "Spinning threads", Note: "hold a P and search for work"},
		number.Amount, t.high(spinning), measure{"spinning", "spinning", st.Spinning, spinning})
	if len(b.Charts) == 0 {
		return nil
	}
	return b
}

func (t *timeline) curve(m measure, format func(float64) string, ax document.Axis) document.Curve {
	c := document.Curve{Name: m.name, Alone: m.alone, Min: format(m.whole.Min), Mean: format(m.whole.Mean), Max: format(m.whole.Max)}
	for i := range t.points {
		p := document.Point{Span: t.slots[i].Span}
		if l := m.at(&t.points[i]); l != nil {
			p.Present, p.Low, p.Mean, p.High = true, ax.At(l.Min), ax.At(l.Mean), ax.At(l.Max)
			p.Value = t.slots[i].when + ": " + m.name + " " + format(l.Mean)
			if l.Min != l.Max {
				p.Value += " (" + format(l.Min) + " to " + format(l.Max) + ")"
			}
		}
		c.Top = max(c.Top, p.High)
		c.Points = append(c.Points, p)
	}
	return c
}

// high is an axis for all of these, the start too: it is charted, though it does
// not count.
func (t *timeline) high(list ...func(*sched.Point) *sched.Level) document.Axis {
	top := 0.0
	for i := range t.points {
		for _, at := range list {
			if l := at(&t.points[i]); l != nil {
				top = max(top, l.Max)
			}
		}
	}
	return document.WholeAxis(top)
}

package view

import (
	"strconv"

	"github.com/procfit/procfit/internal/show/axis"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/trace/sched"
)

// Chart is one or two series over time. Positions are fractions of the axis.
type Chart struct {
	ID        string
	Title     string
	Unit      string
	Note      string
	Ticks     []Tick
	Reference *Tick // such as GOMAXPROCS
	Series    []Series
}

// Series is one quantity.
type Series struct {
	Name           string // within its chart
	Alone          string // where it stands without it
	Min, Mean, Max string
	Top            float64 // where its highest point lies
	Points         []Point
}

// Point is the quantity in a stretch of time; Low and High are its extremes there.
type Point struct {
	From, Until     float64
	Present         bool
	Low, Mean, High float64
	When, Value     string
}

// measure is a series to be charted.
type measure struct {
	name, alone string
	whole       *sched.Level
	at          func(*sched.Point) *sched.Level
}

func (v *View) charts(t *timeline, st *sched.Stats) {
	add := func(c Chart, format func(float64) string, ax axis.Axis, list ...measure) {
		if c.fill(t, format, ax, list); len(c.Series) > 0 {
			v.Charts = append(v.Charts, c)
		}
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
	c := Chart{ID: "idle", Title: "Idle Ps", Note: "of GOMAXPROCS; a P that is not idle runs Go code, the collector or the scheduler"}
	list := []measure{{"idle", "idle Ps", st.IdleProcs, idle}}
	if p := st.Procs; p != nil && p.Min == p.Max {
		c.Reference = &Tick{ax.At(p.Max), "GOMAXPROCS " + number.Amount(p.Max)}
	} else if p != nil {
		list = append(list, measure{"GOMAXPROCS", "GOMAXPROCS", p, procsOf})
	}
	add(c, number.Amount, ax, list...)
	add(Chart{ID: "queues", Title: "Waiting goroutines", Note: "in the queues of the Ps and in the global queue; the one that a P runs next is in neither"},
		number.Amount, t.high(local, global),
		measure{"on Ps", "queued on Ps", st.LocalQueues, local}, measure{"global", "queued globally", st.GlobalQueue, global})
	add(Chart{ID: "imbalance", Title: "Imbalance of the queues", Note: "the share of the goroutines queued on Ps that would have to move for all queues to be as long; known where two a P wait"},
		number.Share, axis.New(0, 1, false), measure{"misplaced", "imbalance", st.Misplaced, uneven})
	add(Chart{ID: "threads", Title: "Threads", Note: "of the runtime, sysmon included; idle ones are parked for want of work"},
		number.Amount, t.high(threads, parked), measure{"all", "threads", st.Threads, threads}, measure{"idle", "idle threads", st.IdleThreads, parked})
	add(Chart{ID: "spinning", Title: "Spinning threads", Note: "hold a P and look for work"},
		number.Amount, t.high(spinning), measure{"spinning", "spinning", st.Spinning, spinning})
}

// fill charts those of the list that are known.
func (c *Chart) fill(t *timeline, format func(float64) string, ax axis.Axis, list []measure) {
	for _, m := range list {
		if m.whole == nil {
			continue
		}
		s := Series{Name: m.name, Alone: m.alone, Min: format(m.whole.Min), Mean: format(m.whole.Mean), Max: format(m.whole.Max)}
		for i := range t.points {
			p := point(m.at(&t.points[i]), t.slots[i], format, ax)
			s.Top = max(s.Top, p.High)
			s.Points = append(s.Points, p)
		}
		c.Series = append(c.Series, s)
	}
	for _, x := range ax.Ticks() {
		label := format(x)
		if x == 0 {
			label = "0"
		}
		c.Ticks = append(c.Ticks, Tick{ax.At(x), label})
	}
}

// high is an axis for all of these, the start too: it is charted, though it does
// not count.
func (t *timeline) high(list ...func(*sched.Point) *sched.Level) axis.Axis {
	top := 0.0
	for i := range t.points {
		for _, at := range list {
			if l := at(&t.points[i]); l != nil {
				top = max(top, l.Max)
			}
		}
	}
	return axis.Whole(top)
}

func point(l *sched.Level, s slot, format func(float64) string, ax axis.Axis) Point {
	p := Point{From: s.From, Until: s.Until, When: s.When}
	if l == nil {
		return p
	}
	p.Present, p.Low, p.Mean, p.High = true, ax.At(l.Min), ax.At(l.Mean), ax.At(l.Max)
	p.Value = format(l.Mean)
	if l.Min != l.Max {
		p.Value += " (" + format(l.Min) + " to " + format(l.Max) + ")"
	}
	return p
}

// procName is "P 3", or "P 0–7" of a group of Ps.
func procName(from, to int) string {
	if from == to {
		return "P " + strconv.Itoa(from)
	}
	return "P " + strconv.Itoa(from) + "–" + strconv.Itoa(to)
}

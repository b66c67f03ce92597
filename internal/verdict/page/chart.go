package page

import (
	"math"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// A measure is one quantity of a setting, with its trials where they are kept.
type rowMeasure struct {
	name  string
	value func(*verdict.Row) stat.Interval
	point func(*verdict.Point) *float64 // nil: not kept by trial
}

// The quantities that several charts show.
var (
	measureP50        = rowMeasure{"p50", func(a *verdict.Row) stat.Interval { return a.P50 }, func(p *verdict.Point) *float64 { return p.P50 }}
	measureP99        = rowMeasure{"p99", func(a *verdict.Row) stat.Interval { return a.P99 }, func(p *verdict.Point) *float64 { return p.P99 }}
	measureJudged     = rowMeasure{"", func(a *verdict.Row) stat.Interval { return a.Judged }, func(p *verdict.Point) *float64 { return p.Judged }}
	measureThroughput = rowMeasure{"throughput", func(a *verdict.Row) stat.Interval { return a.Throughput }, func(p *verdict.Point) *float64 { return p.ThroughputPerSecond }}
)

func (m rowMeasure) as(name string) rowMeasure {
	m.name = name
	return m
}

// countedMeasure is one that the kernel counted: it has no values by trial.
func countedMeasure(name string, of func(*verdict.Evidence) *float64) rowMeasure {
	return rowMeasure{name: name, value: func(a *verdict.Row) stat.Interval { return stat.Interval{Median: of(&a.Evidence)} }}
}

func printedMeasure(name string, factor float64) rowMeasure {
	return rowMeasure{
		name:  "median",
		value: func(a *verdict.Row) stat.Interval { return a.Metrics[name].Interval.Scaled(factor) },
		point: func(p *verdict.Point) *float64 {
			if x, ok := p.Metrics[name]; ok {
				return stat.Scaled(&x.Value, factor)
			}
			return nil
		},
	}
}

func (g *group) throughputTitle() string {
	if o := g.r.Plan.SLO; o != nil {
		return "Throughput with " + objectiveBound(*o)
	}
	return phrase.Capital(g.throughputName())
}

// spreadAxis is logarithmic where the small values of a linear one could not be read.
func spreadAxis(low, high float64) document.Axis {
	const logFrom = 20
	return document.NewAxis(low, high, low > 0 && high/low > logFrom)
}

func (g *group) throughputChart() *document.Chart {
	measures := []rowMeasure{{
		name:  "level",
		value: func(a *verdict.Row) stat.Interval { return g.asShown(a.Throughput) },
		point: func(p *verdict.Point) *float64 { return g.asShown(stat.Interval{Median: p.ThroughputPerSecond}).Median },
	}}
	low, high := g.extent(measures)
	if high == 0 {
		return nil
	}
	for i := range g.r.Groups { // of which one is to be chosen: their bars have one scale
		if g.r.Cheapest != nil {
			other := *g
			other.rows = rowsOf(&g.r.Groups[i])
			least, most := other.extent(measures)
			low, high = min(low, least), max(high, most)
		}
	}
	c := g.chartOn(document.NewAxis(low, high, false), "throughput", g.unit(), measures)
	c.Title, c.Unit, c.Note = titleFrom(g.throughputTitle(), g.Origin), g.unit().Name(), g.throughputNote()
	if old := g.oldRows(); old != nil {
		chartTogether(&c, g.paired(old, "throughput", g.unit(), measures[0]), c.Title)
	}
	return &c
}

func (g *group) latencyChart() *document.Chart {
	title, measures := "Latency", []rowMeasure{measureP50, measureP99}
	switch q := g.Latency.Quantile; {
	case g.LatencyMode == "closed":
		title = "Latency at full load"
	case q == 0:
		title, measures = "Latency, not judged", measures[:1] // the table has the p99, which decides nothing
	case q == 0.5:
		measures = measures[:1]
	case g.other():
		measures[1] = g.judgedMeasure()
	}
	low, high := g.extent(measures)
	if high == 0 {
		return nil
	}
	c := g.chartOn(spreadAxis(low, high), "p99", number.Time(), measures)
	of := measures[len(measures)-1] // the judged one
	alone := title + ", " + of.name
	if len(measures) == 1 {
		title = alone
	}
	c.Title, c.Note = titleFrom(title, g.Origin), g.latencyNote()
	if old := g.oldRows(); old != nil {
		chartTogether(&c, g.paired(old, "p99", number.Time(), of), titleFrom(alone, g.Origin))
	}
	return &c
}

// evidenceCharts show what the kernel counted. Run-queue wait contains the
// throttled time (a throttled thread is runnable), hence one chart for both.
func (g *group) evidenceCharts() []document.Chart {
	replicas := float64(max(1, g.Replicas))
	var charts []document.Chart
	add := func(title, unitName, note string, u number.Unit, measures ...rowMeasure) {
		measures = slices.DeleteFunc(measures, func(m rowMeasure) bool { return !g.anyKnown(m) })
		if len(measures) == 0 {
			return
		}
		low, high := g.extent(measures)
		ax := document.NewAxis(low, high, false)
		c := g.chartOn(ax, "", u, measures)
		c.Title, c.Unit, c.Note, c.Bars = titleFrom(title, g.Origin), unitName, note, true
		if limit := g.EffectiveCPUs * replicas; unitName == "CPUs" && limit > 0 && limit <= ax.High() {
			c.Reference = &document.Tick{At: ax.At(limit), Label: shortNumber(limit, number.Digits) + " available"}
		}
		charts = append(charts, c)
	}
	add("CPU used", "CPUs", "CPU seconds per second, all replicas", number.Plain("CPUs"),
		countedMeasure("target", func(e *verdict.Evidence) *float64 { return e.CPUs }),
		countedMeasure("load generator", func(e *verdict.Evidence) *float64 { return e.LoadCPUs }))
	add("Waiting for a CPU", "s/s", "threads waiting for a CPU, on average; throttled time included", number.Plain("s/s"),
		countedMeasure("run-queue wait", func(e *verdict.Evidence) *float64 { return e.RunQueueWaitRatio }),
		countedMeasure("throttled", func(e *verdict.Evidence) *float64 { return stat.Scaled(e.ThrottledRatio, replicas) }))
	add("Context switches", "/s", "all threads of all replicas", number.PerSecond("/s"),
		countedMeasure("voluntary", func(e *verdict.Evidence) *float64 { return e.VoluntaryPerSecond }),
		countedMeasure("involuntary", func(e *verdict.Evidence) *float64 { return e.InvoluntaryPerSecond }))
	add("Throttled periods", "%", "share of the periods of the CPU limit in which the target was throttled", number.Ratio(),
		countedMeasure("throttled periods", func(e *verdict.Evidence) *float64 { return e.ThrottledPeriodsRatio }))
	return charts
}

func (g *group) anyKnown(m rowMeasure) bool {
	return slices.ContainsFunc(g.rows, func(a *verdict.Row) bool { return m.value(a).Median != nil })
}

// extent is the smallest positive and the largest value, with intervals and valid trials.
func (g *group) extent(measures []rowMeasure) (low, high float64) {
	low = math.Inf(1)
	see := func(x *float64) {
		if x != nil && *x > 0 {
			low, high = min(low, *x), max(high, *x)
		}
	}
	for _, a := range g.rows {
		for _, m := range measures {
			v := m.value(a)
			see(v.Median)
			see(v.Low)
			see(v.High)
			for j := range a.Points {
				if m.point != nil && a.Points[j].Valid && a.Points[j].Role != "pilot" {
					see(m.point(&a.Points[j]))
				}
			}
		}
	}
	return low, high
}

// chartOn is a chart on an axis that others may share.
func (g *group) chartOn(ax document.Axis, metric string, u number.Unit, measures []rowMeasure) document.Chart {
	c := document.Chart{Log: ax.Logarithmic(), Ticks: axisTicks(u, ax), Axis: g.axis()}
	for _, a := range g.rows {
		label, sub := settingLabel(a)
		c.Categories = append(c.Categories, document.Category{Label: label, Sub: sub, Mark: g.mark(a, metric), Apart: a.Procs == nil && a.Variable == "", Default: a.Variant == "" && a == g.rowOfUnset(), Uncompared: g.uncompared(a), Estimated: isSliced(a)})
	}
	for _, m := range measures {
		s := document.Series{Name: m.name}
		for i, a := range g.rows {
			mark := newMark(ax, u, m, a)
			mark.Joined = m.point != nil && i > 0 && mark.Present && s.Marks[i-1].Present &&
				(a.Procs != nil && g.rows[i-1].Procs != nil || a.Variable != "") && a.Variant == g.rows[i-1].Variant &&
				c.Categories[i].Uncompared == "" && c.Categories[i-1].Uncompared == ""
			s.Marks = append(s.Marks, mark)
		}
		c.Series = append(c.Series, s)
	}
	c.Describe(metric)
	return c
}

func newMark(ax document.Axis, u number.Unit, m rowMeasure, a *verdict.Row) document.Mark {
	v := m.value(a)
	var mark document.Mark
	if v.Median != nil {
		mark.Present, mark.At, mark.Value = true, ax.At(*v.Median), about(a, document.Cell{Value: u.Value(*v.Median)}).Value
		if mark.Detail = brackets(u, v); mark.Detail != "" {
			mark.Interval, mark.Low, mark.High = true, ax.At(*v.Low), ax.At(*v.High)
		}
	}
	if m.point == nil {
		return mark
	}
	for j := range a.Points {
		p := &a.Points[j]
		x := m.point(p)
		if p.Role == "pilot" || x == nil && p.Valid {
			continue
		}
		// Steps of the golden ratio spread any number of dots evenly.
		_, f := math.Modf(float64(j) * math.Phi)
		d := document.Dot{Jitter: 2*f - 1, Kind: "measure", Label: "block " + strconv.Itoa(p.Block+1)}
		if p.Role == "aa" {
			d.Kind, d.Label = "aa", d.Label+", repeat of the same setting"
		}
		if x != nil {
			d.At, d.Label = ax.At(*x), d.Label+": "+u.Value(*x)
		}
		if !p.Valid {
			d.Off = x == nil || !ax.Holds(*x)
			d.Kind, d.Label = "invalid", d.Label+", invalid: "+p.InvalidReason
		}
		mark.Dots = append(mark.Dots, d)
	}
	return mark
}

// oldRows are the rows of a gate's old command, in the places of those of the new one that they are
// compared with; nil without a gate, and where none has that place: then they are side by side as
// rows of their own.
func (g *group) oldRows() []*verdict.Row {
	old := slices.DeleteFunc(slices.Clone(g.rows), func(a *verdict.Row) bool { return a.Variant != journal.VariantAgainst })
	if g.gateAlone || len(old) == 0 { // new and old are the only two places, or there is no old
		return nil
	}
	current := currentRows(g.rows)
	rows := phrase.Each(current, func(a *verdict.Row) *verdict.Row { return &verdict.Row{Label: a.Label, Procs: a.Procs} })
	for _, a := range old {
		n, known := ps(a)
		at := slices.IndexFunc(current, func(b *verdict.Row) bool {
			m, ok := ps(b)
			return known && ok && m == n || a.Procs == nil && b.Procs == nil
		})
		if at < 0 {
			return nil
		}
		rows[at] = a
	}
	return rows
}

// paired is a chart of one quantity in which old and new share places and axis.
func (g *group) paired(old []*verdict.Row, metric string, u number.Unit, m rowMeasure) document.Chart {
	low, high := g.extent([]rowMeasure{m})
	ax := document.NewAxis(low, high, false)
	if metric == "p99" {
		ax = spreadAxis(low, high)
	}
	before, after := *g, *g
	before.rows, after.rows = old, currentRows(g.rows)
	c := after.chartOn(ax, metric, u, []rowMeasure{m})
	c.Series = append(before.chartOn(ax, metric, u, []rowMeasure{m}).Series, c.Series...)
	c.Series[0].Name, c.Series[1].Name = "old", "new"
	c.Paired = true
	c.Describe(metric)
	return c
}

func chartTogether(c *document.Chart, p document.Chart, title string) {
	p.Title, p.Unit, p.Note = title, c.Unit, c.Note
	c.Together = &p
}

func (g *group) latencyNote() string {
	switch {
	case g.LatencyMode == "open" && g.RatePerSecond != nil:
		u := g.unit().Short()
		return "latency phase (open loop) at " + u.Value(*g.RatePerSecond) + " for every setting, " + g.counted()
	case g.LatencyMode == "open":
		return "latency phase (open loop), " + g.counted()
	case g.LatencyMode == "closed":
		return "throughput phase (closed loop): not judged, because it mirrors throughput"
	}
	return ""
}

func (g *group) throughputNote() string {
	l := g.r.Load
	switch {
	case g.r.Target.Kind != "server":
		return "whole runs"
	case l.Command != "":
		return "as the load command printed it"
	case g.r.Target.Attached != nil:
		return "the part of the rate that it answered, " + phrase.Count(l.Connections, "connection")
	case g.r.Plan.SLO != nil:
		return "the highest rate within it, of those that a trial tried at a fixed rate (open loop); " + phrase.Count(l.Connections, "connection")
	}
	return "throughput phase (closed loop), " + phrase.Count(l.Connections, "connection")
}

// counted is what the open loop's latency counts from, and how its requests came.
func (g *group) counted() string {
	switch {
	case g.r.Load.Command != "":
		return "as measured by the load command"
	case g.r.Load.Pace != "":
		return "randomly spaced (" + g.r.Load.Pace + "), from the intended send time"
	}
	return "evenly spaced, from the intended send time"
}

// judgedMeasure is the latency by which values are compared; of none the p99.
func (g *group) judgedMeasure() rowMeasure {
	if g.other() {
		return measureJudged.as(g.quantile())
	}
	return measureP99
}

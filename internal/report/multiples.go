package report

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/axis"
	"github.com/procfit/procfit/internal/stat"
)

// shown is a figure that a stage's multiples show.
type shown struct {
	measure
	title string
	row   string // what a row's name begins with, as benchmarks have it; empty: the number of Ps alone
	unit  unit
}

// multiples are a stage's figures, the one that is judged first.
func multiples(r *stat.Result) []Multiples {
	var rows []Multiples
	for _, s := range figures(r) {
		if m := s.multiples(r); len(m.Charts) > 0 {
			rows = append(rows, m)
		}
	}
	return rows
}

// figures are what the program printed of times, else all that it printed, else
// the time of a run; of a server throughput, latency and what the kernel counted.
func figures(r *stat.Result) []shown {
	if r.Target.URL != "" {
		return serverFigures(r)
	}
	names := map[string]string{} // with their units
	for _, g := range r.Groups {
		for _, a := range g.Arms {
			for name, m := range a.Metrics {
				names[name] = m.Unit
			}
		}
	}
	var times, all []shown
	for _, name := range slices.Sorted(maps.Keys(names)) {
		s := shown{measure: metric(name, 1), title: clean(name), unit: perSecond("")}
		if names[name] == "ns/op" {
			s.measure, s.unit, s.row = metric(name, 1e-9), duration(), strings.TrimSuffix(s.title, " ns/op")
			times = append(times, s)
		}
		all = append(all, s)
	}
	switch {
	case len(times) > 0:
		return times
	case len(all) > 0:
		return all
	}
	return []shown{{title: "Time of a run", unit: duration(), measure: measure{
		name:  "median",
		value: func(a *stat.ArmResult) stat.Interval { return inverse(a.Throughput) },
		point: func(p *stat.Point) *float64 { return reciprocal(p.Throughput) },
	}}}
}

func metric(name string, factor float64) measure {
	return measure{
		name: "median",
		value: func(a *stat.ArmResult) stat.Interval {
			i := a.Metrics[name].Interval
			return stat.Interval{Median: scaled(i.Median, factor), Low: scaled(i.Low, factor), High: scaled(i.High, factor), N: i.N}
		},
		point: func(p *stat.Point) *float64 {
			x, ok := p.Metrics[name]
			if !ok {
				return nil
			}
			return scaled(&x, factor)
		},
	}
}

func reciprocal(x *float64) *float64 {
	if x == nil || *x == 0 {
		return nil
	}
	return new(1 / *x)
}

func inverse(i stat.Interval) stat.Interval {
	return stat.Interval{Median: reciprocal(i.Median), Low: reciprocal(i.High), High: reciprocal(i.Low), N: i.N}
}

func serverFigures(r *stat.Result) []shown {
	counted := func(title string, u unit, of func(*stat.Evidence) *float64) shown {
		return shown{title: title, unit: u, measure: measure{
			name: "median", value: func(a *stat.ArmResult) stat.Interval { return stat.Interval{Median: of(&a.Evidence)} },
		}}
	}
	name := ""
	if len(r.Groups) > 0 {
		name = throughputUnit(r.Groups[0].ThroughputUnit)
	}
	return []shown{
		{title: "Throughput, " + name, unit: perSecond(""), measure: measure{
			"median", func(a *stat.ArmResult) stat.Interval { return a.Throughput }, func(p *stat.Point) *float64 { return p.Throughput },
		}},
		{title: "p99 latency", unit: duration(), measure: measure{
			"median", func(a *stat.ArmResult) stat.Interval { return a.P99 }, func(p *stat.Point) *float64 { return p.P99 },
		}},
		counted("Context switches a second", perSecond(""), func(e *stat.Evidence) *float64 {
			if e.VoluntaryPerSecond == nil || e.InvoluntaryPerSecond == nil {
				return nil
			}
			return new(*e.VoluntaryPerSecond + *e.InvoluntaryPerSecond)
		}),
		counted("Waiting for a CPU, s/s", plain(""), func(e *stat.Evidence) *float64 { return e.RunQueueWaitRatio }),
	}
}

func (s *shown) multiples(r *stat.Result) Multiples {
	var groups []*group
	low, high := math.Inf(1), 0.0
	for i := range r.Groups {
		g := &group{Group: &r.Groups[i], r: r, index: i}
		groups = append(groups, g)
		l, h := g.extent([]measure{s.measure})
		low, high = min(low, l), max(high, h)
	}
	m := Multiples{Title: s.title}
	if high == 0 {
		return m
	}
	logarithmic := low > 0 && high/low > logFrom
	ax := axis.New(low, high, logarithmic)
	m.Table.Columns = []Column{{Head: "GOMAXPROCS", Short: "procs", Left: true}}
	var labels []string
	for _, g := range groups {
		c := g.chartOn(ax, "cost", s.unit, []measure{s.measure}, logarithmic)
		c.Title, c.Small = g.short(), true
		for i := range c.Categories {
			c.Categories[i].Mark = "" // a recommendation is the sweep's own report's
		}
		m.Charts = append(m.Charts, c)
		m.Table.Columns = append(m.Table.Columns, Column{Head: c.Title, Short: c.Title})
		for i := range g.Arms {
			if a := &g.Arms[i]; !slices.Contains(labels, a.Label) {
				labels = append(labels, a.Label)
			}
		}
	}
	for _, label := range labels {
		row := Row{Cells: []Cell{{Value: s.named(label)}}}
		for _, g := range groups {
			row.Cells = append(row.Cells, Cell{Value: s.cell(g.arm(label))})
		}
		m.Table.Rows = append(m.Table.Rows, row)
	}
	return m
}

// named is a row's name, as benchmarks have it: Chain, Chain-2.
func (s *shown) named(label string) string {
	switch {
	case s.row == "" || label == "unset":
		return strings.TrimSpace(s.row + " " + clean(label))
	case label == "1":
		return s.row
	}
	return s.row + "-" + clean(label)
}

func (s *shown) cell(a *stat.ArmResult) string {
	if a == nil {
		return absent
	}
	if s.point == nil {
		return s.unit.maybe(s.value(a).Median)
	}
	var values []float64
	for i := range a.Points {
		if p := &a.Points[i]; p.Valid && p.Role == "measure" {
			if x := s.point(p); x != nil {
				values = append(values, *x)
			}
		}
	}
	if len(values) == 0 && a.Invalid > 0 {
		return "invalid"
	}
	return s.unit.spread(values)
}

// short is what sets a group apart, for a small chart.
func (g *group) short() string {
	var parts []string
	if v := g.goVersion(); v != "" {
		parts = append(parts, "Go "+v)
	} else if v := goVersion(g.r.Tool.GoVersion); v != "" && g.r.Target.BuiltIn != "" {
		parts = append(parts, "Go "+v)
	}
	if g.QuotaCPUs != nil {
		parts = append(parts, "quota "+significant(*g.QuotaCPUs, digits, true))
	} else if len(g.r.Groups) > 1 && slices.ContainsFunc(g.r.Groups, func(x stat.Group) bool { return x.QuotaCPUs != nil }) {
		parts = append(parts, "no quota")
	}
	if len(parts) == 0 {
		return "all trials"
	}
	return strings.Join(parts, ", ")
}

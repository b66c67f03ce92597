package page

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// Multiples is one metric of a Result: a small chart for each group, all on one
// scale, and the table of the same.
type Multiples struct {
	Title  string
	Charts []document.Chart
	Table  document.Table
	Labels []string // of the settings, a row of the table each
	over   bool     // a document's curve is over ours
}

// MultiplesOf are a Result's metrics, the one that is judged first. Curves of a document
// lie over those that they are of; over says that there are such.
func MultiplesOf(r *verdict.Result, curves []DocumentCurve) (rows []Multiples, over bool) {
	for _, s := range stageFigures(r) {
		m := s.multiples(r, curves)
		if len(m.Table.Rows) > 0 {
			rows = append(rows, m)
		}
		over = over || m.over
	}
	return rows, over
}

func (s *shownFigure) multiples(r *verdict.Result, curves []DocumentCurve) Multiples {
	var groups []*group
	low, high := math.Inf(1), 0.0
	for i := range r.Groups {
		g := &group{words: words{&r.Groups[i], r}, rows: rowsFrom(r.Groups[i].Settings)}
		groups = append(groups, g)
		l, h := g.extent([]rowMeasure{s.rowMeasure})
		low, high = min(low, l), max(high, h)
		for _, o := range s.overlays(g, curves) {
			for _, x := range o.values {
				low, high = min(low, x), max(high, x)
			}
		}
	}
	m := Multiples{Title: titleFrom(s.title, r.Origin)}
	if high == 0 {
		return m
	}
	ax := spreadAxis(low, high)
	m.Table.Columns = []document.Column{{Head: "GOMAXPROCS", Short: "procs", Left: true}}
	for _, g := range groups {
		c := g.chartOn(ax, "cost", s.unit, []rowMeasure{s.rowMeasure})
		c.Title, c.Small = g.short(), true
		m.over = s.lay(&c, g, curves, ax) || m.over
		for i := range c.Categories {
			c.Categories[i].Mark = "" // a recommendation is the sweep's own report's
		}
		m.Charts = append(m.Charts, c)
		m.Table.Columns = append(m.Table.Columns, document.Column{Head: c.Title, Short: c.Title})
		for i := range g.Settings {
			if a := &g.Settings[i]; !slices.Contains(m.Labels, a.Label) {
				m.Labels = append(m.Labels, a.Label)
			}
		}
	}
	if len(m.Labels) == 1 { // nothing to compare in a chart
		m.Charts = nil
	}
	if len(m.Labels) == 1 && len(groups) > 1 {
		m.Table = s.grid(groups, m.Labels[0])
		return m
	}
	for _, label := range m.Labels {
		row := document.Row{Cells: []document.Cell{{Value: s.named(label)}}}
		for _, g := range groups {
			row.Cells = append(row.Cells, document.Cell{Value: s.cell(g.setting(label))})
		}
		m.Table.Rows = append(m.Table.Rows, row)
	}
	return m
}

// named is a row's name, as benchmarks have it: Chain, Chain-2.
func (s *shownFigure) named(label string) string {
	switch {
	case s.row == "" || label == journal.Default:
		return strings.TrimSpace(s.row + " " + label)
	case label == "1":
		return s.row
	}
	return s.row + "-" + label
}

func (s *shownFigure) cell(a *verdict.Row) string {
	if a == nil {
		return absent
	}
	if s.point == nil {
		return maybe(s.value(a).Median, s.unit.Number)
	}
	values := measured(a, s.point)
	if len(values) == 0 && a.Invalid > 0 {
		return "invalid"
	}
	return spreadDetail(s.unit, values)
}

// grid is the table of a single setting: Go versions down, quotas across.
func (s *shownFigure) grid(groups []*group, label string) document.Table {
	t := document.Table{Columns: []document.Column{{Head: "GOMAXPROCS " + label, Short: label, Left: true}}}
	var languages, quotas []string
	cells := map[[2]string]string{}
	for _, g := range groups {
		language, quota := g.language(), g.quota()
		if !slices.Contains(languages, language) {
			languages = append(languages, language)
		}
		if !slices.Contains(quotas, quota) {
			quotas = append(quotas, quota)
			head := cmp.Or(quota, "no limit") // a column without a heading is not on a terminal
			t.Columns = append(t.Columns, document.Column{Head: head, Short: head})
		}
		cells[[2]string{language, quota}] = s.cell(g.setting(label))
	}
	for _, language := range languages {
		row := document.Row{Cells: []document.Cell{{Value: language}}}
		for _, quota := range quotas {
			row.Cells = append(row.Cells, document.Cell{Value: cmp.Or(cells[[2]string{language, quota}], absent)})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (g *group) short() string {
	return cmp.Or(phrase.Join(", ", g.language(), g.quota()), "all trials")
}

// language is the Go that the group's program was built with; empty: not known.
func (g *group) language() string {
	if v := g.goVersion(); v != "" {
		return "Go " + v
	}
	if v := goVersion(g.r.Tool.GoVersion); v != "" && g.r.Target.BuiltIn != "" {
		return "Go " + v
	}
	return ""
}

// quota is the group's, in words; empty: no group has one.
func (g *group) quota() string {
	switch {
	case g.QuotaCPUs != nil:
		return "limit " + shortNumber(*g.QuotaCPUs, number.Digits)
	case slices.ContainsFunc(g.r.Groups, func(x verdict.Group) bool { return x.QuotaCPUs != nil }):
		return "no limit"
	}
	return ""
}

// spreadDetail is as document 002 has it: median × (lowest ÷ median, highest ÷ median).
func spreadDetail(u number.Unit, values []float64) string {
	if len(values) == 0 {
		return absent
	}
	x := slices.Sorted(slices.Values(values))
	n := len(x)
	if n > 1 && x[0] == x[n-1] && x[0] == math.Trunc(x[0]) && !u.Prefixed(x[0]) {
		return shortNumber(x[0], number.Digits) // a count that is always the same
	}
	median := x[(n-1)/2]/2 + x[n/2]/2
	s := u.Number(median)
	if median == 0 || math.IsNaN(median) {
		return s
	}
	return fmt.Sprintf("%s × (%.2f,%.2f)", s, x[0]/median, x[n-1]/median)
}

// DocumentCurve is what a document measured of a program by GOMAXPROCS, to be drawn over what is
// measured here. The machines are not the same: only its shape can be compared.
type DocumentCurve struct {
	Metric  string // as the program prints it
	Go      string // release; empty: the program has one version, and it is next to that
	On      string // machine; empty: the document has one
	Seconds map[int]float64
}

// overlay is a document's curve, brought to ours at one P: two machines' times cannot be
// compared, what they make of more Ps can.
type overlay struct {
	curve  *DocumentCurve
	values map[int]float64 // by GOMAXPROCS, for those measured here
}

// overlays are the curves that lie over a group's metric.
func (s *shownFigure) overlays(g *group, curves []DocumentCurve) []overlay {
	var list []overlay
	for i := range curves {
		c := &curves[i]
		if s.row == "" || c.Metric != s.row+" ns/op" || !ofRelease(g.GoVersion, c.Go) || c.Seconds[1] <= 0 {
			continue
		}
		o := overlay{curve: c, values: map[int]float64{}}
		ours := 0.0
		for _, a := range currentRows(g.rows) {
			if v := s.value(a).Median; a.Procs != nil && *a.Procs == 1 && v != nil {
				ours = *v
			}
		}
		for _, a := range g.rows {
			if p := a.Procs; p != nil && c.Seconds[*p] > 0 && ours > 0 {
				o.values[*p] = ours * c.Seconds[*p] / c.Seconds[1]
			}
		}
		if len(o.values) > 1 {
			list = append(list, o)
		}
	}
	return list
}

// ofRelease reports whether a version, 1.5.4 or go1.5, is of a release, 1.5.
func ofRelease(version, release string) bool {
	v := strings.TrimPrefix(version, "go")
	return v == release || release != "" && strings.HasPrefix(v, release+".")
}

// lay puts the document's curves behind ours.
func (s *shownFigure) lay(c *document.Chart, g *group, curves []DocumentCurve, ax document.Axis) bool {
	var behind []document.Series
	for _, o := range s.overlays(g, curves) {
		series := document.Series{Name: phrase.Join(", ", "article", o.curve.On)}
		for i, a := range g.rows {
			series.Marks = append(series.Marks, o.mark(a, ax))
			if i > 0 {
				m := &series.Marks[i]
				m.Joined = m.Present && series.Marks[i-1].Present
			}
		}
		behind = append(behind, series)
	}
	if len(behind) == 0 {
		return false
	}
	c.Series = append(behind, c.Series...)
	c.Describe("")
	return true
}

func (o *overlay) mark(a *verdict.Row, ax document.Axis) document.Mark {
	if a.Procs == nil || o.values[*a.Procs] == 0 {
		return document.Mark{}
	}
	times := "article " + timesText(o.curve.Seconds[*a.Procs]/o.curve.Seconds[1]) + " one P"
	return document.Mark{Present: true, At: ax.At(o.values[*a.Procs]), Value: phrase.Join(", ", times, o.curve.On)}
}

// shownFigure is a metric that a stage's multiples show.
type shownFigure struct {
	rowMeasure
	title string
	row   string // what a row's name begins with, as benchmarks have it; empty: the number of Ps alone
	unit  number.Unit
}

// stageFigures are those of a server, or of a program that runs to its end; and what the
// kernel counted of it. Tables of such programs by Go version are long enough.
func stageFigures(r *verdict.Result) []shownFigure {
	switch {
	case r.Target.URL != "":
		return append(serverFigures(r), kernelFigures()...)
	case slices.ContainsFunc(r.Groups, func(g verdict.Group) bool { return g.GoVersion != "" }):
		return batchFigures(r)
	}
	return append(batchFigures(r), kernelFigures()...)
}

// batchFigures are what the program printed, times first, else the time of a run.
func batchFigures(r *verdict.Result) []shownFigure {
	names := map[string]string{} // with their units
	for _, g := range r.Groups {
		for _, a := range g.Settings {
			for name, m := range a.Metrics {
				names[name] = m.Unit
			}
		}
	}
	var times, others []shownFigure
	for _, name := range slices.Sorted(maps.Keys(names)) {
		s := shownFigure{rowMeasure: printedMeasure(name, 1), title: name, unit: number.PerSecond("")}
		if names[name] == "ns/op" {
			s.rowMeasure, s.unit, s.row = printedMeasure(name, 1e-9), number.Time(), strings.TrimSuffix(s.title, " ns/op")
			times = append(times, s)
			continue
		}
		if title, ok := strings.CutSuffix(s.title, "-ns"); ok { // p99-ns, as benchmarks have other times
			s.rowMeasure, s.unit, s.title = printedMeasure(name, 1e-9), number.Time(), title
		}
		others = append(others, s)
	}
	if len(names) > 0 {
		return append(times, others...)
	}
	return []shownFigure{{title: "Time per run", unit: number.Time(), rowMeasure: rowMeasure{
		name:  "median",
		value: func(a *verdict.Row) stat.Interval { return a.Throughput.Inverse() },
		point: func(p *verdict.Point) *float64 { return stat.Interval{Median: p.ThroughputPerSecond}.Inverse().Median },
	}}}
}

// serverFigures are throughput, latency and CPU time. Where the judged loop is the open one,
// the closed one's latency is next to it, because documents that used wrk report that one.
func serverFigures(r *verdict.Result) []shownFigure {
	name, open := "", false
	if len(r.Groups) > 0 {
		name, open = throughputUnit(r.Groups[0].ThroughputUnit), r.Groups[0].LatencyMode == "open"
	}
	list := []shownFigure{
		{title: "Throughput, " + name, unit: number.PerSecond(""), rowMeasure: measureThroughput.as("median")},
		{title: "p99 latency", unit: number.Time(), rowMeasure: measureP99.as("median")},
	}
	if open {
		list[1].title = "p99, latency phase"
		list = append(list, shownFigure{title: "p99, throughput phase", unit: number.Time(), rowMeasure: rowMeasure{"median", func(a *verdict.Row) stat.Interval { return stat.Median(measured(a, closedP99)) }, closedP99}})
	}
	list = append(list, shownFigure{title: "CPU per request", unit: number.Time(), rowMeasure: countedMeasure("median", func(e *verdict.Evidence) *float64 { return e.CPUSecondsEach })})
	if open {
		list = append(list, shownFigure{title: "CPU per request, latency phase", unit: number.Time(), rowMeasure: rowMeasure{name: "median", value: func(a *verdict.Row) stat.Interval {
			if a.OpenEvidence == nil {
				return stat.Interval{}
			}
			return stat.Interval{Median: a.OpenEvidence.CPUSecondsEach}
		}}})
	}
	return list
}

func closedP99(p *verdict.Point) *float64 { return p.ClosedP99 }

// measured are the values of the valid trials, repeats aside.
func measured(a *verdict.Row, of func(*verdict.Point) *float64) (values []float64) {
	for i := range a.Points {
		if p := &a.Points[i]; p.Valid && p.Role == "measure" {
			if x := of(p); x != nil {
				values = append(values, *x)
			}
		}
	}
	return values
}

func kernelFigures() []shownFigure {
	row := func(title string, u number.Unit, of func(*verdict.Evidence) *float64) shownFigure {
		return shownFigure{title: title, unit: u, rowMeasure: countedMeasure("median", of)}
	}
	whole := number.Plain("").Short()
	return []shownFigure{
		row("Context switches per second", number.PerSecond(""), func(e *verdict.Evidence) *float64 {
			if e.VoluntaryPerSecond == nil || e.InvoluntaryPerSecond == nil {
				return nil
			}
			return new(*e.VoluntaryPerSecond + *e.InvoluntaryPerSecond)
		}),
		row("Threads waiting for a CPU", number.Plain(""), func(e *verdict.Evidence) *float64 { return e.RunQueueWaitRatio }),
		row("Threads", whole, func(e *verdict.Evidence) *float64 { return e.ThreadsMax }),
		row("Throttled periods", number.Ratio(), func(e *verdict.Evidence) *float64 { return e.ThrottledPeriodsRatio }),
	}
}

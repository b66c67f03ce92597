package page

import (
	"maps"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/stat"
)

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
		point: func(p *verdict.Point) *float64 { return stat.Interval{Median: p.Throughput}.Inverse().Median },
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

// requestsTable has a line for each request of a mix, and its p99 at each setting: in
// the percentiles of all a slow one hides behind the many.
func (g *group) requestsTable() *document.Table {
	var names []string
	at := map[string]map[int]*verdict.RequestLatency{}
	for k, a := range g.rows {
		for i := range a.ByRequest {
			one := &a.ByRequest[i]
			if at[one.Name] == nil {
				names = append(names, one.Name)
				at[one.Name] = map[int]*verdict.RequestLatency{}
			}
			at[one.Name][k] = one
		}
	}
	if len(names) == 0 {
		return nil
	}
	t := &document.Table{Columns: []document.Column{{Head: "request", Short: "request", Left: true}}}
	for _, a := range g.rows {
		label, _ := settingLabel(a)
		t.Columns = append(t.Columns, document.Column{Head: "p99 at GOMAXPROCS " + settingName(a), Short: "p99 at " + label, Detailed: true})
	}
	for _, name := range names {
		row := document.Row{Cells: []document.Cell{{Value: phrase.Clip(name, nameRoom)}}}
		for k := range g.rows {
			row.Cells = append(row.Cells, requestCell(at[name][k]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// requestCell has the failures also of a request that has no latency, since all of it failed.
func requestCell(r *verdict.RequestLatency) document.Cell {
	c := document.Cell{Value: absent}
	if r == nil {
		return c
	}
	var details []string
	if r.P99.Median != nil {
		c.Value = number.Seconds(*r.P99.Median)
	}
	if r.P50.Median != nil {
		details = append(details, "p50 "+number.Seconds(*r.P50.Median))
	}
	if r.Errors > 0 {
		details = append(details, phrase.CountOf(r.Errors, "failed", "failed"))
	}
	c.Detail = strings.Join(details, ", ")
	return c
}

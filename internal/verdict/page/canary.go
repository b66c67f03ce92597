package page

import (
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
)

// canaryWords are those of a canary.
type canaryWords struct {
	*verdict.Canary
	r *verdict.Result
}

// canary makes a canary's settings a group without curves over GOMAXPROCS: its charts are
// over time.
func (v *View) canary(r *verdict.Result) {
	if r.Canary == nil {
		return
	}
	v.Name, v.Progress = v.Name+" under its own traffic", "" // what ended it is its verdict
	w := canaryWords{r.Canary, r}
	g := Group{ID: "g1", Verdict: w.verdict(), Table: w.table(), Facts: w.facts(), Paste: w.paste()}
	if !w.Unreached { // else of zeros
		g.OverTime = w.charts()
	}
	v.Groups = []Group{g}
}

// paste names a value where one alone is better.
func (w canaryWords) paste() Paste {
	if !w.r.Complete {
		return Paste{Lead: "Nothing to set yet: the comparison did not come to its end."}
	}
	if lead := called(w.r.Recommendation).after(w); lead != "" {
		return Paste{Lead: lead}
	}
	g := &group{Group: &verdict.Group{Recommendation: *w.r.Recommendation}, r: w.r}
	for _, a := range w.Settings {
		g.QuotaCPUs = a.QuotaCPUs // which all have
	}
	return g.paste()
}

func (w canaryWords) facts() document.Pairs {
	share := number.Ratio()
	return document.Pairs{{Name: "Margins", Value: "CPU time " + share.Number(canary.MarginCPU) + ", the others " + share.Number(w.r.Plan.MarginP99) + " (a value that is worse by less is equally good)"}}
}

// name is a metric's, in a sentence.
func (w canaryWords) name(figure string) string {
	switch figure {
	case paired.FigureCPU:
		return "CPU time " + w.each()
	case canary.FigureWait:
		return "run-queue wait " + w.each()
	case canary.FigureSched:
		return "scheduling latency p99"
	case canary.FigureThrottled:
		return "throttled periods"
	case paired.FigureRequests:
		if w.r.Live != nil {
			return "requests per second"
		}
		return "requests per pod"
	case paired.FigureP50:
		return "latency p50"
	case paired.FigureP99:
		return "latency p99"
	case paired.FigureFailed:
		return "failed requests"
	}
	if f, seen := seenFigures[figure]; seen && w.r.Live != nil {
		return f.name
	}
	return phrase.Clean(figure)
}

func (w canaryWords) each() string {
	switch {
	case w.PerRequest:
		return "per request"
	case w.r.Live != nil:
		return "per second"
	}
	return "per pod"
}

// unit is that of a metric. What a query's value is in, its author knows.
func (w canaryWords) unit(figure string) number.Unit {
	if f, seen := seenFigures[figure]; seen && w.r.Live != nil {
		return f.unit
	}
	switch figure {
	case canary.FigureSched, paired.FigureP50, paired.FigureP99:
		return number.Time()
	case canary.FigureThrottled, paired.FigureFailed:
		return number.Ratio()
	case paired.FigureRequests:
		return number.PerSecond("req/s")
	case paired.FigureCPU, canary.FigureWait:
		switch {
		case w.PerRequest:
			return number.Time()
		case figure == paired.FigureCPU:
			return number.Plain("CPUs")
		}
		return number.Plain("s/s")
	}
	return number.Plain("")
}

// control is what settings are compared with.
func (w canaryWords) control() string {
	if w.r.Live != nil {
		return "the value at start"
	}
	return "the control"
}

// differences are what is proven of some metrics: "CPU time a request −12.0% [−15.0%, −9.0%]".
func (w canaryWords) differences(a verdict.CanarySetting, figures []string) string {
	var list []string
	for _, f := range figures {
		text := w.name(f) + " (unknown)"
		if m := a.Of(f); m != nil {
			text = w.name(f) + " " + changes(m.Ratio)
		}
		list = append(list, text)
	}
	return phrase.And(list)
}

// changes is a difference in a sentence.
func changes(i verdict.Interval) string {
	c := difference(i)
	return c.Value + " " + c.Detail
}

func (w canaryWords) table() document.Table {
	t := document.Table{Columns: []document.Column{
		{Head: "GOMAXPROCS", Short: "procs"}, {Head: "Metric", Short: "metric", Left: true}, {Head: "Outcome", Short: "outcome", Left: true},
		{Head: "Compared with " + w.control(), Short: "change", Detailed: true}, {Head: "Median", Short: "median"}, {Head: phrase.Capital(strings.TrimPrefix(w.control(), "the ")), Short: "control"}, {Head: "Slices", Short: "n"},
	}}
	recommended := w.proven(verdict.Recommended) // a value that is better in one metric alone is not marked
	for _, a := range w.Settings {
		if a.Procs == nil {
			continue
		}
		for _, m := range a.Figures {
			u := w.unit(m.Name)
			row := document.Row{Cells: []document.Cell{
				{Value: phrase.Clean(a.Label)}, {Value: w.name(m.Name)}, {Value: outcomeWords[m.Outcome]},
				difference(m.Ratio), {Value: valueOf(u, m.Value)}, {Value: valueOf(u, m.Control)}, {Value: strconv.Itoa(m.Ratio.N)},
			}}
			if m.Outcome == verdict.OutcomeWorse || m.Outcome == verdict.OutcomeBetter && slices.Contains(recommended, row.Cells[0].Value) {
				row.Mark = outcomeWords[m.Outcome]
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func valueOf(u number.Unit, i verdict.Interval) string {
	if i.Median == nil {
		return absent
	}
	return u.Value(*i.Median)
}

// charts show one metric over time, of each setting next to its control: the user's own
// where there is one, else CPU time.
func (w canaryWords) charts() (list []document.Chart) {
	figure, high := w.first()
	ax := document.NewAxis(0, high, false)
	for _, a := range w.Settings {
		if m := a.Of(figure); m != nil && a.Procs != nil {
			list = append(list, w.chart(a, m, ax))
		}
	}
	return list
}

// first is the first metric that any setting has, with its highest value.
func (w canaryWords) first() (figure string, high float64) {
	for _, a := range w.Settings {
		for _, m := range a.Figures {
			if m.Value.Median == nil || figure != "" && m.Name != figure {
				continue
			}
			figure = m.Name
			for _, p := range m.Points {
				for _, x := range p {
					if x != nil {
						high = max(high, *x)
					}
				}
			}
		}
	}
	return figure, high
}

func (w canaryWords) chart(a verdict.CanarySetting, m *verdict.CanaryFigure, ax document.Axis) document.Chart {
	u := w.unit(m.Name)
	name := phrase.Clean(a.Label)
	c := document.Chart{
		Title: "GOMAXPROCS " + name + ": " + w.name(m.Name), Unit: u.Name(), Axis: "slice", Note: "by slices of " + number.Short(number.Seconds(w.SliceSeconds)),
		Ticks: ticks(u, ax), Series: []document.Series{{Name: w.control() + ", " + phrase.Clean(w.Settings[0].Label)}, {Name: name}},
	}
	for n, p := range m.Points {
		k := document.Category{Label: strconv.Itoa(n + 1)}
		for i, x := range []*float64{p[1], p[0]} {
			series := &c.Series[i]
			mark, text := document.Mark{}, "unknown"
			if x != nil {
				mark = document.Mark{Present: true, At: ax.At(*x), Value: u.Value(*x), Joined: n > 0 && series.Marks[n-1].Present}
				text = mark.Value
			}
			series.Marks = append(series.Marks, mark)
			if i > 0 {
				k.Value += ", "
			}
			k.Value += series.Name + " " + text
		}
		c.Categories = append(c.Categories, k)
	}
	c.Summary = c.Title + " over " + phrase.Count(len(c.Categories), "slice") + ": " + changes(m.Ratio) + " compared with " + w.control()
	return c
}

// CanarySlice is what a canary of one slice shows of its settings, in a line.
func CanarySlice(r *verdict.Result) string {
	w := canaryWords{r.Canary, r}
	figure, _ := w.first()
	var list []string
	for _, a := range w.Settings {
		if m := a.Of(figure); m != nil {
			list = append(list, a.Label+" "+w.unit(figure).Value(*m.Value.Median))
		}
	}
	if list == nil {
		return "this slice has no values"
	}
	return phrase.Clean(w.name(figure) + " of " + phrase.And(list))
}

// queries are what a Prometheus was asked, by a canary or by a live experiment.
func queries(r *verdict.Result, add func(name, value string)) {
	var list []journal.Query
	prometheus := ""
	if c := r.Canary; c != nil {
		list, prometheus = c.Queries, c.Prometheus
	}
	if l := r.Live; l != nil {
		list, prometheus = l.Queries, l.Prometheus
	}
	for _, q := range list {
		add("Query "+phrase.Clean(q.Name), q.Text)
	}
	add("Prometheus", prometheus)
}

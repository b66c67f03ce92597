package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/page"
)

// stageWords are one of an experiment's sweeps in words.
type stageWords struct {
	title    string
	notes    []string
	report   string // the sweep's own report, relative to the experiment's page; empty: none
	rows     []page.Multiples
	over     bool // the document's curves lie over ours
	versions bool // it compares Go versions, which are the titles of its tables
}

func stage(id string, s *lab.RanStage, m lab.Measured) stageWords {
	v := stageWords{title: cmp.Or(s.Title, s.ID), versions: len(s.Versions) > 0}
	note := func(format string, args ...any) {
		v.notes = append(v.notes, fmt.Sprintf(format, args...))
	}
	if s.Scaled != "" {
		note("%s", s.Scaled)
	}
	if s.NotRun != "" {
		note("not run: %s", lead(s.NotRun))
	}
	if s.Stopped != "" {
		note("stopped early: %s", lead(s.Stopped))
	}
	for _, x := range s.Versions {
		if x.Fault != "" {
			note("Go %s: invalid: %s", x.Asked, lead(x.Fault))
		}
	}
	if m.Result == nil {
		return v
	}
	if s.Invalid > 0 {
		note("%d of %s invalid, most often: %s", s.Invalid, phrase.Count(s.Run, "trial"), lead(page.MostInvalid(m.Result)))
	}
	if s.Disturbed(m.Result.Host.EffectiveCPUs) {
		note("%s and run it again", s.Company(m.Result.Host.EffectiveCPUs))
	}
	v.report = reportOf(id, s, m)
	v.rows, v.over = page.MultiplesOf(m.Result, documentCurves()[id])
	return v
}

// reportOf is a sweep's own report as seen from its experiment's folder; empty: it has none.
func reportOf(id string, s *lab.RanStage, m lab.Measured) string {
	below, ok := strings.CutPrefix(s.Directory+"/", id+"/")
	if !ok || m.Result == nil {
		return ""
	}
	return below + "report.html"
}

// lead is the first line of a reason, which may lead to more.
func lead(s string) string { return strings.TrimSuffix(phrase.FirstLine(s), ":") }

// figures are a table under its title, and the charts of the same.
type figures struct {
	Title  string
	Charts []document.Chart
	Table  document.Table
}

// grid is a figure by two numbers, with a bar for each ratio.
func grid(g *lab.Grid) (out figures) {
	if g == nil {
		return out
	}
	out.Title, out.Table.Columns = phrase.Capital(g.Title), []document.Column{{Head: "Goroutines", Short: "goroutines", Left: true}}
	for _, c := range g.Columns {
		out.Table.Columns = append(out.Table.Columns, document.Column{Head: c, Short: c, Bars: true})
	}
	most := 0.0
	for _, row := range g.Cells {
		for _, e := range row {
			if e.Value != nil {
				most = max(most, *e.Value)
			}
		}
	}
	for i, row := range g.Cells {
		r := document.Row{Cells: []document.Cell{{Value: g.Rows[i]}}}
		for _, e := range row {
			c := document.Cell{Value: "not measured"}
			if e.Value != nil {
				c.Value, c.Bar = number.Figure(*e.Value), *e.Value/most
			}
			if e.Low != nil && e.High != nil {
				c.Detail = "[" + number.Figure(*e.Low) + ", " + number.Figure(*e.High) + "]"
			}
			r.Cells = append(r.Cells, c)
		}
		out.Table.Rows = append(out.Table.Rows, r)
	}
	return out
}

// blocks are the figures under their title.
func (f figures) blocks(level int) []document.Block {
	if f.Title == "" {
		return nil
	}
	list := []document.Block{document.Heading{Level: level, Text: f.Title}}
	if len(f.Charts) > 0 {
		list = append(list, document.Charts{Layout: document.Multiples, List: f.Charts})
	}
	return append(list, f.Table)
}

// tables are the stage's metrics. Of one group they are side by side in one table,
// each with a chart; of several in one table for each figure, a column and a chart
// for each group.
func (s stageWords) tables() []figures {
	if one, ok := sideBySide(s.rows); ok {
		return []figures{one}
	}
	var list []figures
	for _, m := range s.rows {
		list = append(list, figures{m.Title, m.Charts, m.Table})
	}
	return list
}

func sideBySide(rows []page.Multiples) (figures, bool) {
	if len(rows) < 2 {
		return figures{}, false
	}
	first := rows[0].Table
	joined := document.Table{Columns: slices.Clone(first.Columns[:1]), Rows: make([]document.Row, len(first.Rows))}
	for i, label := range rows[0].Labels {
		joined.Rows[i].Cells = []document.Cell{{Value: label}}
	}
	var charts []document.Chart
	for _, m := range rows {
		if len(m.Table.Columns) != 2 || len(m.Table.Rows) != len(m.Labels) || !slices.Equal(m.Labels, rows[0].Labels) {
			return figures{}, false
		}
		joined.Columns = append(joined.Columns, document.Column{Head: m.Title, Short: m.Title})
		for _, c := range m.Charts {
			c.Title = m.Title
			charts = append(charts, c)
		}
		for i, r := range m.Table.Rows {
			joined.Rows[i].Cells = append(joined.Rows[i].Cells, r.Cells[1])
		}
	}
	return figures{first.Columns[1].Head, charts, joined}, true
}

// documentCurves are the figures of experiments by GOMAXPROCS, where their document has
// such, by the experiment.
func documentCurves() map[string][]page.DocumentCurve {
	const µs, ns = 1e-6, 1e-9
	return map[string][]page.DocumentCurve{
		"chain": {
			{Metric: "Chain ns/op", Go: "1.4", On: lab.OnLaptop, Seconds: by(µs, 1, 28.8, 2, 57, 4, 66)},
			{Metric: "Chain ns/op", Go: "1.5", On: lab.OnLaptop, Seconds: by(µs, 1, 27.1, 2, 29, 4, 29)},
			{Metric: "Chain ns/op", Go: "1.4", On: lab.OnServer, Seconds: by(µs, 1, 38.8, 2, 110, 4, 119, 8, 120, 12, 111, 16, 106)},
			{Metric: "Chain ns/op", Go: "1.5", On: lab.OnServer, Seconds: by(µs, 1, 36.1, 2, 37, 4, 37, 8, 38, 12, 37, 16, 37)},
		},
		"chainbuf": {
			{Metric: "ChainBuf ns/op", Go: "1.4", On: lab.OnLaptop, Seconds: by(µs, 1, 32.4, 2, 60, 4, 69)},
			{Metric: "ChainBuf ns/op", Go: "1.5", On: lab.OnLaptop, Seconds: by(µs, 1, 30.2, 2, 33, 4, 33)},
			{Metric: "ChainBuf ns/op", Go: "1.4", On: lab.OnServer, Seconds: by(µs, 1, 40.8, 2, 116, 4, 121, 8, 125, 12, 115, 16, 109)},
			{Metric: "ChainBuf ns/op", Go: "1.5", On: lab.OnServer, Seconds: by(µs, 1, 39.7, 2, 41, 4, 41, 8, 41, 12, 41, 16, 41)},
		},
		"powser": {
			{Metric: "Powser ns/op", Go: "1.4", On: lab.OnLaptop, Seconds: by(1, 1, 3.34, 2, 8.1, 4, 8.3)},
			{Metric: "Powser ns/op", Go: "1.5", On: lab.OnLaptop, Seconds: by(1, 1, 3.10, 2, 3.3, 4, 3.5)},
			{Metric: "Powser ns/op", Go: "1.4", On: lab.OnServer, Seconds: by(1, 1, 4.18, 2, 11.2, 4, 13.5, 8, 13.2, 12, 12.3, 16, 11.6)},
			{Metric: "Powser ns/op", Go: "1.5", On: lab.OnServer, Seconds: by(1, 1, 4.05, 2, 4.2, 4, 4.7, 8, 4.7, 12, 4.7, 16, 4.7)},
		},
		"sieve": {
			{Metric: "Sieve ns/op", Go: "1.4", On: lab.OnLaptop, Seconds: by(1, 1, 21.8, 2, 18.9, 4, 12.7)},
			{Metric: "Sieve ns/op", Go: "1.5", On: lab.OnLaptop, Seconds: by(1, 1, 21.1, 2, 17.0, 4, 10.6)},
			{Metric: "Sieve ns/op", Go: "1.4", On: lab.OnServer, Seconds: by(1, 1, 27.8, 2, 18.9, 4, 10.2, 8, 5.4, 12, 4.5, 16, 3.6)},
			{Metric: "Sieve ns/op", Go: "1.5", On: lab.OnServer, Seconds: by(1, 1, 27.3, 2, 15.3, 4, 8.1, 8, 4.7, 12, 3.9, 16, 3.7)},
		},
		"garbage": {{Metric: "Garbage ns/op", On: lab.OnServer, Seconds: by(ns, 1, 31461838, 4, 10427806, 16, 5754040)}},
		"http":    {{Metric: "HTTP ns/op", On: lab.OnServer, Seconds: by(ns, 1, 146737, 4, 32853, 16, 12652)}},
		"json":    {{Metric: "JSON ns/op", On: lab.OnServer, Seconds: by(ns, 1, 145014842, 4, 44788720, 16, 21817571)}},
	}
}

// by are times by GOMAXPROCS, in pairs.
func by(unit float64, pairs ...float64) map[int]float64 {
	m := map[int]float64{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[int(pairs[i])] = unit * pairs[i+1]
	}
	return m
}

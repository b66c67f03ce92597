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
	var curves []page.DocumentCurve
	if e, err := lab.Find(id); err == nil {
		for _, c := range e.Curves {
			curves = append(curves, page.DocumentCurve(c))
		}
	}
	v.rows, v.over = page.MultiplesOf(m.Result, curves)
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

// grid is a figure by two numbers, with a bar for each ratio.
func grid(g *lab.Grid) (out page.Multiples) {
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

// figures are those of a metric under its title; without one there are none.
func figures(f page.Multiples, level int) []document.Block {
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
func (s stageWords) tables() []page.Multiples {
	if one, ok := sideBySide(s.rows); ok {
		return []page.Multiples{one}
	}
	return s.rows
}

func sideBySide(rows []page.Multiples) (one page.Multiples, ok bool) {
	if len(rows) < 2 {
		return one, false
	}
	first := rows[0].Table
	joined := document.Table{Columns: slices.Clone(first.Columns[:1]), Rows: make([]document.Row, len(first.Rows))}
	for i, label := range rows[0].Labels {
		joined.Rows[i].Cells = []document.Cell{{Value: label}}
	}
	var charts []document.Chart
	for _, m := range rows {
		if len(m.Table.Columns) != 2 || len(m.Table.Rows) != len(m.Labels) || !slices.Equal(m.Labels, rows[0].Labels) {
			return one, false
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
	return page.Multiples{Title: first.Columns[1].Head, Charts: charts, Table: joined}, true
}

package page

import (
	"math"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/axis"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
)

// multiples are a stage's figures, the one that is judged first.
func multiples(r *verdict.Result, curves []lab.Curve) (rows []Multiples, over bool) {
	for _, s := range figures(r) {
		m := s.multiples(r, curves)
		if len(m.Table.Rows) > 0 {
			rows = append(rows, m)
		}
		over = over || m.over
	}
	return rows, over
}

func (s *shown) multiples(r *verdict.Result, curves []lab.Curve) Multiples {
	var groups []*group
	low, high := math.Inf(1), 0.0
	for i := range r.Groups {
		g := &group{Group: &r.Groups[i], r: r, index: i, rows: r.Groups[i].Arms}
		groups = append(groups, g)
		l, h := g.extent([]measure{s.measure})
		low, high = min(low, l), max(high, h)
		for _, o := range s.overlays(g, curves) {
			for _, x := range o.values {
				low, high = min(low, x), max(high, x)
			}
		}
	}
	m := Multiples{Title: titled(s.title, r.Origin)}
	if high == 0 {
		return m
	}
	logarithmic := low > 0 && high/low > logFrom
	ax := axis.New(low, high, logarithmic)
	m.Table.Columns = []Column{{Head: "GOMAXPROCS", Short: "procs", Left: true}}
	for _, g := range groups {
		c := g.chartOn(ax, "cost", s.unit, []measure{s.measure}, logarithmic)
		c.Title, c.Small = g.short(), true
		m.over = s.lay(&c, g, curves, ax) || m.over
		for i := range c.Categories {
			c.Categories[i].Mark = "" // a recommendation is the sweep's own report's
		}
		m.Charts = append(m.Charts, c)
		m.Table.Columns = append(m.Table.Columns, Column{Head: c.Title, Short: c.Title})
		for i := range g.Arms {
			if a := &g.Arms[i]; !slices.Contains(m.labels, a.Label) {
				m.labels = append(m.labels, a.Label)
			}
		}
	}
	if len(m.labels) == 1 { // nothing to compare in a chart
		m.Charts = nil
	}
	if len(m.labels) == 1 && len(groups) > 1 {
		m.Table = s.grid(groups, m.labels[0])
		return m
	}
	for _, label := range m.labels {
		row := Row{Cells: []Cell{{Value: s.named(label)}}}
		for _, g := range groups {
			row.Cells = append(row.Cells, Cell{Value: s.cell(g.arm(label))})
		}
		m.Table.Rows = append(m.Table.Rows, row)
	}
	return m
}

// Figures are a table under its title, and the charts of the same.
type Figures struct {
	Title  string
	Charts []Chart
	Table  Table
}

// Tables are the stage's figures. Of one group they stand side by side in one table,
// each with a chart; of several in one table for each figure, a column and a chart
// for each group.
func (s Stage) Tables() []Figures {
	if one, ok := sideBySide(s.Rows); ok {
		return []Figures{one}
	}
	var list []Figures
	for _, m := range s.Rows {
		list = append(list, Figures{m.Title, m.Charts, m.Table})
	}
	return list
}

func sideBySide(rows []Multiples) (Figures, bool) {
	if len(rows) < 2 {
		return Figures{}, false
	}
	first := rows[0].Table
	joined := Table{Columns: slices.Clone(first.Columns[:1]), Rows: make([]Row, len(first.Rows))}
	for i, label := range rows[0].labels {
		joined.Rows[i].Cells = []Cell{{Value: phrase.Clean(label)}}
	}
	var charts []Chart
	for _, m := range rows {
		if len(m.Table.Columns) != 2 || !slices.Equal(m.labels, rows[0].labels) {
			return Figures{}, false
		}
		joined.Columns = append(joined.Columns, Column{Head: m.Title, Short: m.Title})
		for _, c := range m.Charts {
			c.Title = m.Title
			charts = append(charts, c)
		}
		for i, r := range m.Table.Rows {
			joined.Rows[i].Cells = append(joined.Rows[i].Cells, r.Cells[1])
		}
	}
	return Figures{first.Columns[1].Head, charts, joined}, true
}

// named is a row's name, as benchmarks have it: Chain, Chain-2.
func (s *shown) named(label string) string {
	switch {
	case s.row == "" || label == "unset":
		return strings.TrimSpace(s.row + " " + phrase.Clean(label))
	case label == "1":
		return s.row
	}
	return s.row + "-" + phrase.Clean(label)
}

func (s *shown) cell(a *verdict.ArmResult) string {
	if a == nil {
		return absent
	}
	if s.point == nil {
		return maybe(s.unit, s.value(a).Median)
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
	return spread(s.unit, values)
}

// grid is the table of a single arm: Go versions down, quotas across.
func (s *shown) grid(groups []*group, label string) Table {
	t := Table{Columns: []Column{{Head: "GOMAXPROCS " + label, Short: label, Left: true}}}
	column, row := map[string]int{}, map[string]int{}
	for _, g := range groups {
		if _, ok := column[g.quota()]; !ok {
			column[g.quota()] = len(t.Columns)
			t.Columns = append(t.Columns, Column{Head: g.quota(), Short: g.quota()})
		}
	}
	for _, g := range groups {
		i, ok := row[g.language()]
		if !ok {
			i = len(t.Rows)
			row[g.language()] = i
			cells := make([]Cell, len(t.Columns))
			cells[0].Value = g.language()
			for j := range cells[1:] {
				cells[1+j].Value = absent
			}
			t.Rows = append(t.Rows, Row{Cells: cells})
		}
		t.Rows[i].Cells[column[g.quota()]].Value = s.cell(g.arm(label))
	}
	return t
}

// short is what sets a group apart, for a small chart.
func (g *group) short() string {
	parts := slices.DeleteFunc([]string{g.language(), g.quota()}, func(s string) bool { return s == "" })
	if len(parts) == 0 {
		return "all trials"
	}
	return strings.Join(parts, ", ")
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
		return "quota " + short(*g.QuotaCPUs, number.Digits)
	case slices.ContainsFunc(g.r.Groups, func(x verdict.Group) bool { return x.QuotaCPUs != nil }):
		return "no quota"
	}
	return ""
}

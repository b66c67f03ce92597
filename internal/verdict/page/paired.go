package page

import (
	"github.com/procfit/procfit/internal/show/axis"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// pairs are the rows of a gate's old command by those of the new one that they are
// compared with; nil without a gate, and where one has no partner: then they stand side
// by side as rows of their own.
func (g *group) pairs() map[*verdict.SettingResult]*verdict.SettingResult {
	var old map[*verdict.SettingResult]*verdict.SettingResult
	for i := range g.rows {
		if g.rows[i].Variant != journal.VariantAgainst {
			continue
		}
		partner := g.partner(&g.rows[i])
		if partner == nil {
			return nil
		}
		if old == nil {
			old = map[*verdict.SettingResult]*verdict.SettingResult{}
		}
		old[partner] = &g.rows[i]
	}
	return old
}

// partner is the row of the new command that ran as a row of the old one.
func (g *group) partner(old *verdict.SettingResult) *verdict.SettingResult {
	n, known := ps(old)
	for i := range g.rows {
		a := &g.rows[i]
		if a.Variant != "" {
			continue
		}
		if m, ok := ps(a); known && ok && m == n || a.Procs == nil && old.Procs == nil {
			return a
		}
	}
	return nil
}

// current are the rows of the program itself, without those of a gate's old command.
func current(rows []verdict.SettingResult) []verdict.SettingResult {
	var list []verdict.SettingResult
	for i := range rows {
		if rows[i].Variant == "" {
			list = append(list, rows[i])
		}
	}
	return list
}

// paired is a chart of one quantity in which old and new share places and axis.
func (g *group) paired(old map[*verdict.SettingResult]*verdict.SettingResult, metric string, u number.Unit, m measure) document.Chart {
	low, high := g.extent([]measure{m})
	logarithmic := metric == "p99" && low > 0 && high/low > logFrom
	ax := axis.New(low, high, logarithmic)
	before, after := *g, *g
	before.rows, after.rows = nil, nil
	for i := range g.rows {
		a := &g.rows[i]
		if a.Variant != "" {
			continue
		}
		after.rows = append(after.rows, *a)
		if row := old[a]; row != nil {
			before.rows = append(before.rows, *row)
		} else {
			before.rows = append(before.rows, verdict.SettingResult{Label: a.Label, Procs: a.Procs})
		}
	}
	c := after.chartOn(ax, metric, u, []measure{m}, logarithmic)
	c.Series = append(before.chartOn(ax, metric, u, []measure{m}, logarithmic).Series, c.Series...)
	c.Series[0].Name, c.Series[1].Name = "old", "new"
	c.Paired = true
	c.Describe(metric)
	return c
}

// together hands on the chart of old and new, under what the whole one is called.
func together(c *document.Chart, p document.Chart, title string) {
	p.Title, p.Unit, p.Note = title, c.Unit, c.Note
	c.Together = &p
}

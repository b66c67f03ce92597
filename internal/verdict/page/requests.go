package page

import (
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
)

// requestsTable has a line for each request of a mix, and its p99 at each setting: in
// the percentiles of all a slow one hides behind the many.
func (g *group) requestsTable() *document.Table {
	var names []string
	at := map[string]map[int]*verdict.RequestLatency{}
	for k := range g.rows {
		for i := range g.rows[k].ByRequest {
			one := &g.rows[k].ByRequest[i]
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
	for k := range g.rows {
		label, _ := settingLabel(&g.rows[k])
		t.Columns = append(t.Columns, document.Column{Head: "p99 at GOMAXPROCS " + settingName(&g.rows[k]), Short: "p99 at " + label, Detailed: true})
	}
	for _, name := range names {
		row := document.Row{Cells: []document.Cell{{Value: phrase.Clip(phrase.Clean(name), nameRoom)}}}
		for k := range g.rows {
			row.Cells = append(row.Cells, requestCell(at[name][k]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func requestCell(r *verdict.RequestLatency) document.Cell {
	if r == nil || r.P99.Median == nil {
		return document.Cell{Value: absent}
	}
	c := document.Cell{Value: number.Seconds(*r.P99.Median)}
	if r.P50.Median != nil {
		c.Detail = "p50 " + number.Seconds(*r.P50.Median)
	}
	if r.Errors > 0 {
		c.Detail += ", " + phrase.CountOf(r.Errors, "failed", "failed")
	}
	return c
}

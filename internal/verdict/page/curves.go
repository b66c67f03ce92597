package page

import "github.com/procfit/procfit/internal/show/document"

// curves are the charts as a table, for who reads text: a row a category, a column a
// series.
func curves(throughput, latency *document.Chart) document.Table {
	var t document.Table
	if throughput == nil {
		return t
	}
	t.Columns = []document.Column{{Head: "GOMAXPROCS", Short: "procs", Left: true}}
	for i, k := range throughput.Categories {
		name := k.Label
		if k.Sub != "" {
			name += " (" + k.Sub + ")"
		}
		row := document.Row{Mark: k.Mark, Cells: []document.Cell{{Value: name}}}
		for _, c := range []*document.Chart{throughput, latency} {
			if c == nil || len(c.Categories) != len(throughput.Categories) {
				continue
			}
			if row.Mark == "" {
				row.Mark = c.Categories[i].Mark
			}
			for _, s := range c.Series {
				if i == 0 {
					t.Columns = append(t.Columns, document.Column{Head: curveHead(c, s.Name), Short: s.Name, Detailed: true})
				}
				cell := document.Cell{Value: absent}
				if m := s.Marks[i]; m.Present {
					cell = document.Cell{Value: m.Value, Detail: m.Detail}
				}
				row.Cells = append(row.Cells, cell)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// head names a series in a table: by itself where the chart has several quantities.
func curveHead(c *document.Chart, series string) string {
	if len(c.Series) == 1 {
		return c.Title
	}
	return series
}

package page

// curves are the charts as a table, for who reads text: a row a category, a column a
// series.
func curves(throughput, latency *Chart) Table {
	var t Table
	if throughput == nil {
		return t
	}
	t.Columns = []Column{{Head: "GOMAXPROCS", Short: "procs", Left: true}}
	for i, k := range throughput.Categories {
		name := k.Label
		if k.Sub != "" {
			name += " (" + k.Sub + ")"
		}
		row := Row{Mark: k.Mark, Cells: []Cell{{Value: name}}}
		for _, c := range []*Chart{throughput, latency} {
			if c == nil || len(c.Categories) != len(throughput.Categories) {
				continue
			}
			if row.Mark == "" {
				row.Mark = c.Categories[i].Mark
			}
			for _, s := range c.Series {
				if i == 0 {
					t.Columns = append(t.Columns, Column{Head: c.head(s.Name), Short: s.Name, Detailed: true})
				}
				cell := Cell{Value: absent}
				if m := s.Marks[i]; m.Present {
					cell = Cell{Value: m.Value, Detail: m.Detail}
				}
				row.Cells = append(row.Cells, cell)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// head names a series in a table: by itself where the chart has several quantities.
func (c *Chart) head(series string) string {
	if len(c.Series) == 1 {
		return c.Title
	}
	return series
}

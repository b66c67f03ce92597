package page

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// noChange represents a difference that is not shown, as benchstat has it.
const noChange = "~"

// benchmarks are the Go benchmarks of a group, each by itself: their charts, and a row a benchmark, a
// column a value of GOMAXPROCS. They are nil where fewer than two ran.
func (g *group) benchmarks() (charts []document.Chart, blocks []document.Block) {
	b := g.Benchmarks
	if b == nil || len(b.Procs) == 0 {
		return nil, nil
	}
	note := document.Text{Style: document.Small, Text: fmt.Sprintf("Median time per operation, and the difference from GOMAXPROCS=%d. %s: no difference is proven; all the others hold together at 95%%.", b.Procs[b.Base], noChange)}
	table := document.Table{Columns: []document.Column{{Head: "Benchmark", Short: "benchmark", Left: true}}}
	for i := range b.Procs {
		head := strconv.Itoa(b.Procs[i])
		if a := g.row(b.Mean[i].Setting); a != nil {
			head = settingName(a)
		}
		table.Columns = append(table.Columns, document.Column{Head: head, Short: head, Detailed: true})
	}
	for i := range b.List {
		one := &b.List[i]
		row := benchmarkRow(one.Name, one.Times, b.Base)
		if one.Wants != nil {
			row.Mark = "best at " + strconv.Itoa(*one.Wants)
		}
		table.Rows = append(table.Rows, row)
		if c := g.benchmarkChart(one); c != nil {
			charts = append(charts, *c)
		}
	}
	table.Rows = append(table.Rows, benchmarkRow("geometric mean", b.Mean, b.Base))
	return charts, []document.Block{table, note}
}

func benchmarkRow(name string, times []verdict.BenchmarkTime, base int) document.Row {
	row := document.Row{Cells: []document.Cell{{Value: name}}}
	for i := range times {
		t := &times[i]
		c := document.Cell{Value: maybe(t.Seconds.Median, number.Time().Number)}
		switch {
		case i == base || t.VersusBase.Median == nil:
		case t.Differs:
			c.Detail = change(*t.VersusBase.Median)
		default:
			c.Detail = noChange
		}
		row.Cells = append(row.Cells, c)
	}
	return row
}

// benchmarkChart is one benchmark's time by setting, on a scale of its own: what is
// compared is its shape. The value that it wants is marked, where another is named.
func (g *group) benchmarkChart(b *verdict.Benchmark) *document.Chart {
	times := map[string]stat.Interval{}
	for _, t := range b.Times {
		times[t.Setting] = t.Seconds
	}
	only := *g
	only.rows = slices.DeleteFunc(slices.Clone(g.rows), func(a *verdict.Row) bool { return times[a.Label].Median == nil })
	m := printedMeasure(b.Name+" ns/op", 1e-9).as("time per operation")
	m.value = func(a *verdict.Row) stat.Interval { return times[a.Label] }
	low, high := only.extent([]rowMeasure{m})
	if high == 0 || len(only.rows) < 2 {
		return nil
	}
	c := only.chartOn(spreadAxis(low, high), "time", number.Time(), []rowMeasure{m})
	c.Title, c.Small = b.Name, true
	for i := range c.Categories {
		if n, ok := ps(only.rows[i]); b.Wants != nil {
			c.Categories[i].Mark = ""
			if ok && n == *b.Wants {
				c.Categories[i].Mark = "best"
			}
		}
	}
	return &c
}

// apart are the benchmarks that want another value than the verdict's.
func (g *group) apart() (names []string, wants []int) {
	if g.Benchmarks == nil {
		return nil, nil
	}
	for i := range g.Benchmarks.List {
		if b := &g.Benchmarks.List[i]; b.Wants != nil {
			names, wants = append(names, phrase.Clip(b.Name, nameRoom)), append(wants, *b.Wants)
		}
	}
	return names, wants
}

// besides names the benchmarks that an answer does not hold for.
func (g *group) besides() string {
	switch names, _ := g.apart(); len(names) {
	case 0:
		return ""
	case 1:
		return ", except for " + names[0]
	default:
		return fmt.Sprintf(", except for %d benchmarks", len(names))
	}
}

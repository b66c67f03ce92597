package page

import (
	"strings"

	"github.com/procfit/procfit/internal/show/axis"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/verdict"
)

// DocumentCurve is what a document measured of a program by GOMAXPROCS, to be drawn over what is
// measured here. The machines are not the same: only its shape can be compared.
type DocumentCurve struct {
	Metric  string // as the program prints it
	Go      string // release; empty: the program has one version, and it is next to that
	On      string // machine; empty: the document has one
	Seconds map[int]float64
}

// overlay is a document's curve, brought to ours at one P: two machines' times cannot be
// compared, what they make of more Ps can.
type overlay struct {
	curve  *DocumentCurve
	values map[int]float64 // by GOMAXPROCS, for those measured here
}

// overlays are the curves that lie over a group's metric.
func (s *shown) overlays(g *group, curves []DocumentCurve) []overlay {
	var list []overlay
	for i := range curves {
		c := &curves[i]
		if s.row == "" || c.Metric != s.row+" ns/op" || !ofRelease(g.GoVersion, c.Go) || c.Seconds[1] <= 0 {
			continue
		}
		o := overlay{curve: c, values: map[int]float64{}}
		ours := 0.0
		for j := range g.rows {
			if a := &g.rows[j]; a.Procs != nil && *a.Procs == 1 && a.Variant == "" {
				if v := s.value(a).Median; v != nil {
					ours = *v
				}
			}
		}
		for j := range g.rows {
			if p := g.rows[j].Procs; p != nil && c.Seconds[*p] > 0 && ours > 0 {
				o.values[*p] = ours * c.Seconds[*p] / c.Seconds[1]
			}
		}
		if len(o.values) > 1 {
			list = append(list, o)
		}
	}
	return list
}

// ofRelease reports whether a version, 1.5.4 or go1.5, is of a release, 1.5.
func ofRelease(version, release string) bool {
	v := strings.TrimPrefix(version, "go")
	return v == release || release != "" && strings.HasPrefix(v, release+".")
}

// lay puts the document's curves behind ours.
func (s *shown) lay(c *document.Chart, g *group, curves []DocumentCurve, ax axis.Axis) bool {
	var behind []document.Series
	for _, o := range s.overlays(g, curves) {
		name := "article"
		if o.curve.On != "" {
			name += ", " + o.curve.On
		}
		series := document.Series{Name: name}
		for i := range g.rows {
			series.Marks = append(series.Marks, o.mark(&g.rows[i], ax))
			if i > 0 {
				m := &series.Marks[i]
				m.Joined = m.Present && series.Marks[i-1].Present
			}
		}
		behind = append(behind, series)
	}
	if len(behind) == 0 {
		return false
	}
	c.Series = append(behind, c.Series...)
	c.Describe("")
	return true
}

func (o *overlay) mark(a *verdict.SettingResult, ax axis.Axis) document.Mark {
	if a.Procs == nil || o.values[*a.Procs] == 0 {
		return document.Mark{}
	}
	m := document.Mark{Present: true, At: ax.At(o.values[*a.Procs]), Value: "article " + times(new(o.curve.Seconds[*a.Procs]/o.curve.Seconds[1])) + " one P"}
	if o.curve.On != "" {
		m.Value += ", " + o.curve.On
	}
	return m
}

// curves are the charts as a table, for readers of text: a row a category, a column a
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

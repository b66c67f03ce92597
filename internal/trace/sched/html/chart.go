package html

import (
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/trace/sched/view"
)

// Measures: pixels down, per cent across.
const (
	lineHeight = 18
	plotHeight = 96
	flatHeight = 24 // of a chart with nothing in it
	timeRoom   = 20
	gutter     = 6.0
	// The curves are drawn in a box of their own, stretched to the plot.
	boxWidth, boxHeight = 10000, 1000
)

// svg is a chart placed.
type svg struct {
	view.Chart
	Summary           string
	Height, Top, Foot int
	Tall              int
	Legend            []legend
	Grid              []grid
	Reference         *grid
	Times             []at
	Curves            []curve
	Columns           []column
}

type legend struct {
	Y          int
	Kind, Text string
}

type grid struct{ Y, Label string }

type at struct{ X, Label, Anchor string }

type curve struct{ Kind, Band, Line string }

// column is a stretch of time that answers to the pointer.
type column struct {
	X, Width string
	Text     []readout
}

type readout struct {
	Y    int
	Text string
}

func plot(c view.Chart, time []view.Tick) svg {
	top := lineHeight*len(c.Series) + 14
	tall := plotHeight
	if flat(c) {
		tall = flatHeight
	}
	s := svg{Chart: c, Top: top, Foot: top + tall, Tall: tall, Height: top + tall + timeRoom, Times: times(time)}
	y := func(f float64) string { return px(float64(s.Foot) - f*float64(tall)) }
	for _, t := range c.Ticks {
		s.Grid = append(s.Grid, grid{y(t.At), t.Label})
	}
	if c.Reference != nil {
		s.Reference = &grid{y(c.Reference.At), c.Reference.Label}
	}
	s.Summary = c.Title + " over time:"
	for i, series := range c.Series {
		kind := "main"
		if i > 0 {
			kind = "side"
		}
		text := series.Name + ": " + series.Mean + " on average, " + series.Min + " to " + series.Max
		s.Summary += " " + text + "."
		s.Legend = append(s.Legend, legend{lineHeight*i + 12, kind, text})
		s.Curves = append(s.Curves, curve{kind, band(series.Points), line(series.Points)})
		for j, p := range series.Points {
			if i == 0 {
				s.Columns = append(s.Columns, column{X: across(p.From), Width: percent((p.Until - p.From) * (100 - gutter))})
			}
			if p.Present {
				s.Columns[j].Text = append(s.Columns[j].Text, readout{lineHeight*i + 12, p.When + ": " + series.Name + " " + p.Value})
			}
		}
	}
	return s
}

// flat tells that there is nothing but zeros to see.
func flat(c view.Chart) bool {
	for _, s := range c.Series {
		if s.Top > 0 {
			return false
		}
	}
	return c.Reference == nil
}

func times(ticks []view.Tick) []at {
	var out []at
	for _, t := range ticks {
		a := at{across(t.At), t.Label, "middle"}
		if t.At > 0.97 {
			a.Anchor = "end"
		}
		out = append(out, a)
	}
	return out
}

// line goes through the means: level for as long as each point stands.
func line(points []view.Point) string {
	var b strings.Builder
	for i, p := range points {
		if !p.Present {
			continue
		}
		move := "M"
		if i > 0 && points[i-1].Present && points[i-1].Until == p.From {
			move = "L"
		}
		b.WriteString(move + box(p.From, p.Mean) + "H" + boxX(p.Until))
	}
	return b.String()
}

// band is between the extremes of each point, where they differ.
func band(points []view.Point) string {
	var b strings.Builder
	for _, p := range points {
		if p.Present && p.High > p.Low {
			b.WriteString("M" + box(p.From, p.Low) + "V" + boxY(p.High) + "H" + boxX(p.Until) + "V" + boxY(p.Low) + "Z")
		}
	}
	return b.String()
}

func box(x, y float64) string { return boxX(x) + " " + boxY(y) }
func boxX(x float64) string   { return strconv.Itoa(int(x*boxWidth + 0.5)) }
func boxY(y float64) string   { return strconv.Itoa(boxHeight - int(y*boxHeight+0.5)) }

func across(at float64) string { return percent(gutter + at*(100-gutter)) }
func percent(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) + "%" }
func px(x float64) string      { return strconv.FormatFloat(x, 'f', 1, 64) }
func opacity(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// heatmap is the queues placed.
type heatmap struct {
	Note         string
	Summary      string
	Height, Foot int
	Top, Tall    int
	Times        []at
	Rows         []row
	Key          []key
}

type row struct {
	Name          string
	Y, Tall, Text int
	Cells         []cell
}

type cell struct{ X, Width, Opacity, Text string }

type key struct{ X, Opacity string }

const (
	heatTop  = 26
	rowRoom  = 18 // with few rows
	rowTight = 13
	fewRows  = 12
	faintest = 0.14
)

func heat(h *view.Heat, time []view.Tick) heatmap {
	tall := rowRoom
	if len(h.Rows) > fewRows {
		tall = rowTight
	}
	m := heatmap{Note: h.Note, Times: times(time), Top: heatTop, Foot: heatTop + tall*len(h.Rows)}
	m.Height, m.Tall = m.Foot+timeRoom, m.Foot-m.Top
	m.Summary = "Run queue of each P over time, at most " + h.Max + " goroutines"
	for i, r := range h.Rows {
		to := row{Name: r.Name, Y: heatTop + tall*i, Tall: tall - 1}
		to.Text = to.Y + tall - 4
		for _, c := range r.Cells {
			to.Cells = append(to.Cells, cell{across(c.From), percent((c.Until - c.From) * (100 - gutter)), opacity(faintest + (1-faintest)*c.Heat), c.Text})
		}
		m.Rows = append(m.Rows, to)
	}
	return m
}

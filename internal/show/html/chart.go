package html

import (
	"cmp"
	"html"
	"html/template"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
)

// Vertical measures in pixels.
const (
	lineHeight  = 18 // of a legend line
	plotHeight  = 220
	smallHeight = 100
	labelRoom   = 52  // under the plot: label, what it resolved to, mark
	smallRoom   = 38  // without the mark
	gutter      = 9.0 // per cent, at the left, for the axis labels
	endRoom     = 4.0 // per cent, at the right, for the lines' names
	smallGutter = 22.0
)

// Labels that fit under a chart on a phone and on a desktop.
const (
	labelsNarrow = 9
	labelsWide   = 16
)

// svg is a chart placed: percentages across, pixels down.
type svg struct {
	*document.Chart
	Height          int
	Top, Foot, Tall int // of the plot
	Legend          []legend
	Grid            []grid
	Reference       *grid
	Joins           []join
	Settings        []setting
	Over            string // what the categories are
	AxisAt          string // where the axis is named; empty: it is not
	AxisAnchor      string
	Small           bool
	Many            bool // settings: smaller marks
}

type legend struct {
	Y    int
	Name string
	Kind string // the class of the series' marks
}

type grid struct {
	Y     string
	Label string
}

type join struct{ X1, Y1, X2, Y2, Kind, Shift string }

type setting struct {
	document.Category
	Left, Width string // of the column that answers to the pointer
	X           string // its middle
	Label       string // class of the label: shown, wide only, or none
	Anchor      string // of the mark's text, so that it stays inside
	Text        []readout
	Marks       []mark
	Bars        []bar
}

type readout struct {
	Y    int
	Text string
}

type mark struct {
	Kind      string
	Shift     string // pixels aside, where series share a place
	Y         string
	Interval  bool
	Low, High string
	Dots      template.HTML
	Value     string // next to the points that the answer is about
	End       string // the series' name, at its last point
}

type bar struct{ X, Width, Y, Height, Kind string }

func plot(c *document.Chart) svg {
	if c.Together != nil {
		c = c.Together
	}
	s := svg{Chart: c, Over: cmp.Or(c.Axis, "GOMAXPROCS"), Small: c.Bars || c.Small, Many: len(c.Categories) > labelsWide}
	// Two legend lines even for one series, so that charts side by side line up.
	height, room, lines := plotHeight, labelRoom, max(2, len(c.Series))
	if s.Small {
		height, room = smallHeight, smallRoom
	}
	if c.Small {
		lines = max(1, len(c.Series)) // for the readout: one legend would be repeated in each of many
	}
	top := lineHeight*lines + 16
	s.Top, s.Foot, s.Tall = top, top+height, height
	s.Height = s.Foot + room
	y := func(at float64) string { return px(float64(s.Foot) - at*float64(height)) }
	for i, series := range c.Series {
		if c.Small {
			break
		}
		s.Legend = append(s.Legend, legend{Y: lineHeight*i + 12, Name: series.Name, Kind: kind(c, i)})
	}
	if len(c.Series) == 1 && !c.Bars && !c.Small {
		s.Legend = append(s.Legend, legend{Y: lineHeight + 12, Name: "one trial", Kind: "trial main"})
	}
	for _, t := range c.Ticks {
		s.Grid = append(s.Grid, grid{Y: y(t.At), Label: t.Label})
	}
	if c.Reference != nil {
		s.Reference = &grid{Y: y(c.Reference.At), Label: c.Reference.Label}
	}
	n, left := len(c.Categories), float64(gutter)
	if c.Small {
		left, s.Many = smallGutter, true
	}
	wide := 100 - left
	if len(c.Series) > 1 && !s.Small && !c.Paired {
		wide -= endRoom
	}
	p := placed{svg: &s, left: left, step: wide / float64(max(1, n)), tall: float64(height), y: y, jitter: 12}
	if c.Paired {
		p.jitter = 6
	}
	if s.Many {
		p.jitter = 2
	}
	show := labels(c.Categories)
	for i := range c.Categories {
		s.Settings = append(s.Settings, p.setting(i, show[i]))
	}
	s.AxisAt, s.AxisAnchor = p.axisName()
	return s
}

// axisName is where the axis is named: at an end that no mark needs, or nowhere, since
// the chart's label says it too.
func (p *placed) axisName() (x, anchor string) {
	left, right := p.Small, p.Small
	for i, k := range p.Chart.Categories {
		left = left || k.Mark != "" && p.x(i) < 45
		right = right || k.Mark != "" && p.x(i) > 55
	}
	switch {
	case !left:
		return "0", "start"
	case !right:
		return "100%", "end"
	}
	return "", ""
}

// placed is where things of a chart go: percentages across, pixels down.
type placed struct {
	*svg
	left, step, tall, jitter float64
	y                        func(at float64) string
}

func (p *placed) x(i int) float64 { return p.left + p.step*(float64(i)+0.5) }

func (p *placed) setting(i int, label string) setting {
	c := p.Chart
	k := c.Categories[i]
	a := setting{Category: k, Left: percent(p.left + p.step*float64(i)), Width: percent(p.step), X: percent(p.x(i)), Label: label, Anchor: "middle"}
	switch {
	case p.x(i) > 85:
		a.Anchor = "end"
	case p.x(i) < 20:
		a.Anchor = "start"
	}
	for j, series := range c.Series {
		m := series.Marks[i]
		a.Text = append(a.Text, readout{Y: lineHeight*j + 12, Text: k.Name() + ": " + m.Text()})
		if m.Joined {
			p.Joins = append(p.Joins, join{percent(p.x(i - 1)), p.y(series.Marks[i-1].At), percent(p.x(i)), p.y(m.At), kind(c, j), shift(c, j)})
		}
		if c.Bars {
			if m.Present {
				wide := p.step * 0.7 / float64(len(c.Series))
				a.Bars = append(a.Bars, bar{percent(p.x(i) - p.step*0.35 + wide*float64(j)), percent(wide * 0.9), p.y(m.At), px(m.At * p.tall), kind(c, j)})
			}
			continue
		}
		one := mark{Kind: kind(c, j), Shift: shift(c, j), Interval: m.Interval, Low: p.y(m.Low), High: p.y(m.High)}
		if m.Present {
			one.Y = p.y(m.At)
		}
		one.Dots = dots(m.Dots, p.jitter, p.y)
		p.name(&one, i, j)
		a.Marks = append(a.Marks, one)
	}
	return a
}

// name writes next to a point what it is: the value where the answer is about it, and at
// the end of a line which one it is.
func (p *placed) name(m *mark, i, j int) {
	c := p.Chart
	if p.Small || p.Many || m.Y == "" {
		return
	}
	if k := c.Categories[i]; m.Kind == "main" && (k.Mark != "" || k.Default) {
		m.Value = c.Series[j].Marks[i].Value
	}
	// The series of another axis have names, which the key has room for and an end has not.
	if i == len(c.Categories)-1 && len(c.Series) > 1 && !c.Paired && c.Axis == "" && i < labelsNarrow {
		m.End = c.Series[j].Name
	}
}

// dots are written here and not by a template, which would take most of the time
// of a large report: there is one for every trial and series. What came from
// outside, the label, is escaped.
func dots(list []document.Dot, jitter float64, y func(float64) string) template.HTML {
	var b strings.Builder
	for _, d := range list {
		b.WriteString(`<g class="` + html.EscapeString(d.Kind) + `"><title>` + html.EscapeString(d.Label) + `</title>`)
		x, y := px(d.Jitter*jitter), y(d.At)
		if d.Kind == "invalid" {
			b.WriteString(`<text class="cross" x="` + x + `" y="` + y + `" dy="4">×</text></g>`)
		} else {
			b.WriteString(`<circle class="dot" cx="` + x + `" cy="` + y + `" r="2"/></g>`)
		}
	}
	return template.HTML(b.String())
}

// kind is the class of a series: "main" is filled, "side" is hollow. Of curves
// the last is the one to look at (p99), of bars the first. Of two that lie behind a
// small one, the second is "far".
func kind(c *document.Chart, i int) string {
	switch {
	case c.Bars && i == 0 || !c.Bars && i == len(c.Series)-1:
		return "main"
	case c.Small && i == 1:
		return "side far"
	}
	return "side"
}

// pairGap is how far apart two series of one quantity stand, in pixels.
const pairGap = 28

// shift moves a series aside, so that those of one quantity can be distinguished.
func shift(c *document.Chart, i int) string {
	if !c.Paired {
		return ""
	}
	gap := float64(pairGap)
	if len(c.Categories) > labelsNarrow {
		gap /= 4
	}
	return px(gap * (float64(i) - float64(len(c.Series)-1)/2))
}

// labels chooses which categories are named when there are too many for the
// width: unset and marked ones always, of the others one in every few.
func labels(list []document.Category) []string {
	out := make([]string, len(list))
	choose := func(class string, fit int) {
		every := (len(list) + fit - 1) / fit
		free := 0
		for i, k := range list {
			if k.Apart || k.Mark != "" || out[i] != "" {
				if out[i] == "" {
					out[i] = class
				}
				free = i + every
				continue
			}
			if i < free || crowded(list, out, i, every) {
				continue
			}
			out[i] = class
			free = i + every
		}
	}
	choose("label", labelsNarrow)
	choose("label wide", labelsWide)
	return out
}

// crowded reports whether a named category follows within the distance.
func crowded(list []document.Category, named []string, i, every int) bool {
	for j := i + 1; j < min(len(list), i+every); j++ {
		if list[j].Apart || list[j].Mark != "" || named[j] != "" {
			return true
		}
	}
	return false
}

func percent(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) + "%" }
func px(x float64) string      { return strconv.FormatFloat(x, 'f', 1, 64) }

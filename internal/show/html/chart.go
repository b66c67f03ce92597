package html

import (
	"cmp"
	"strconv"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
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

// plot is a chart placed: percentages across, pixels down.
type plot struct {
	*document.Chart
	over                    string // what the categories are
	small                   bool
	many                    bool // categories: smaller marks
	height, top, foot, tall int
	left, step, jitter      float64
}

func placed(c *document.Chart) *plot {
	if c.Together != nil {
		c = c.Together
	}
	p := &plot{Chart: c, over: cmp.Or(c.Axis, "GOMAXPROCS"), small: c.Bars || c.Small, many: c.Small || len(c.Categories) > labelsWide, tall: plotHeight}
	// Two legend lines even for one series, so that charts side by side line up.
	room, lines := labelRoom, max(2, len(c.Series))
	if p.small {
		p.tall, room = smallHeight, smallRoom
	}
	if c.Small {
		lines = max(1, len(c.Series)) // for the readout: one legend would be repeated in each of many
	}
	p.top = lineHeight*lines + 16
	p.foot = p.top + p.tall
	p.height = p.foot + room

	p.left = gutter
	if c.Small {
		p.left = smallGutter
	}
	wide := 100 - p.left
	if len(c.Series) > 1 && !p.small && !c.Paired {
		wide -= endRoom
	}
	p.step = wide / float64(max(1, len(c.Categories)))
	switch {
	case p.many:
		p.jitter = 2
	case c.Paired:
		p.jitter = 6
	default:
		p.jitter = 12
	}
	return p
}

func (p *plot) x(i int) float64     { return p.left + p.step*(float64(i)+0.5) }
func (p *plot) y(at float64) string { return px(float64(p.foot) - at*float64(p.tall)) }

func chart(c document.Chart) part {
	p := placed(&c)
	note := c.Note
	if p.Log {
		note = phrase.Join(", ", note, "logarithmic scale")
	}
	drawing := parts{
		attrs{"width", "100%", "height", p.height, "role", "group", "aria-label", p.Title + " by " + p.over},
		el("g role=img", attrs{"aria-label", p.Summary}, p.legend(), each(p.Ticks, p.level), p.reference(), p.bands(), p.axisName(), p.joins()),
	}
	labels := labels(p.Categories)
	for i := range p.Categories {
		drawing = append(drawing, p.setting(i, labels[i]))
	}
	return el("figure", class("chart", when(p.small, "small"), when(p.many, "many")),
		el("h4", text(p.Title), aside("unit", c.Unit)), el("svg", drawing), el("figcaption", text(note)))
}

func (p *plot) level(t document.Tick) part {
	at := p.y(t.At)
	return parts{
		el("line class=grid x1=0 x2=100%", attrs{"y1", at, "y2", at}),
		el("text class=tick x=0 dy=-4", attrs{"y", at}, text(t.Label)),
	}
}

func (p *plot) reference() part {
	if p.Reference == nil {
		return nil
	}
	at := p.y(p.Reference.At)
	return parts{
		el("line class=reference x2=100%", attrs{"x1", "0", "y1", at, "y2", at}),
		el("text class=tick x=100% dy=-4 text-anchor=end", attrs{"y", at}, text(p.Reference.Label)),
	}
}

func (p *plot) legend() (list parts) {
	if p.Chart.Small {
		return nil
	}
	entry := func(y int, kind, name string) {
		sign := el("circle class=median cx=6 r=4.5", attrs{"cy", y, "transform", "translate(0 -4)"})
		if p.Bars {
			sign = el("rect class=bar x=1 width=9 height=9", attrs{"y", y, "transform", "translate(0 -9)"})
		}
		list = append(list, el("g", class("legend", kind), sign, el("text x=16", attrs{"y", y}, text(name))))
	}
	for i, s := range p.Series {
		entry(lineHeight*i+12, p.kind(i), s.Name)
	}
	if len(p.Series) == 1 && !p.Bars {
		entry(lineHeight+12, "trial main", "one trial")
	}
	return list
}

func (p *plot) bands() (list parts) {
	for i, k := range p.Categories {
		if k.Mark != "" {
			list = append(list, el("rect class=band", p.column(i), attrs{"y", p.top, "height", p.tall}))
		}
	}
	return list
}

func (p *plot) column(i int) attrs {
	return attrs{"x", percent(p.left + p.step*float64(i)), "width", percent(p.step)}
}

// axisName is where no mark needs the room, or nowhere: the chart's label says it too.
func (p *plot) axisName() part {
	left, right := p.small, p.small
	for i, k := range p.Categories {
		left = left || k.Mark != "" && p.x(i) < 45
		right = right || k.Mark != "" && p.x(i) > 55
	}
	at := attrs{"x", 0, "text-anchor", "start"}
	switch {
	case left && right:
		return nil
	case left:
		at = attrs{"x", "100%", "text-anchor", "end"}
	}
	return el("text class=tick", at, attrs{"y", p.foot, "dy", 46}, text(p.over))
}

func (p *plot) joins() (list parts) {
	for i := range p.Categories {
		for j, s := range p.Series {
			if m := s.Marks[i]; m.Joined {
				list = append(list, el("line", class("join", p.kind(j)), p.aside(j), attrs{"x1", percent(p.x(i - 1)), "y1", p.y(s.Marks[i-1].At), "x2", percent(p.x(i)), "y2", p.y(m.At)}))
			}
		}
	}
	return list
}

// kind is the class of a series: "main" is filled, "side" is hollow. Of curves
// the last is the one to look at (p99), of bars the first. Of two that lie behind a
// small one, the second is "far".
func (p *plot) kind(j int) string {
	switch {
	case p.Bars && j == 0 || !p.Bars && j == len(p.Series)-1:
		return "main"
	case p.Chart.Small && j == 1:
		return "side far"
	}
	return "side"
}

// aside moves a series, so that those of one quantity can be distinguished.
func (p *plot) aside(j int) part {
	if !p.Paired {
		return nil
	}
	gap := 28.0 // pixels
	if len(p.Categories) > labelsNarrow {
		gap /= 4
	}
	return attrs{"transform", "translate(" + px(gap*(float64(j)-float64(len(p.Series)-1)/2)) + " 0)"}
}

// labels chooses which categories are named when there are too many for the
// width: unset and marked ones always, of the others one in every few. An entry is the
// class of the label; empty: there is none.
func labels(list []document.Category) []string {
	out := make([]string, len(list))
	named := func(i int) bool { return list[i].Apart || list[i].Mark != "" || out[i] != "" }
	choose := func(class string, fit int) {
		every, free := (len(list)+fit-1)/fit, 0
		for i := range list {
			crowded := false // by a named one that follows
			for j := i + 1; j < min(len(list), i+every); j++ {
				crowded = crowded || named(j)
			}
			if named(i) || i >= free && !crowded {
				out[i], free = cmp.Or(out[i], class), i+every
			}
		}
	}
	choose("label", labelsNarrow)
	choose("label wide", labelsWide)
	return out
}

func percent(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) + "%" }
func px(x float64) string      { return strconv.FormatFloat(x, 'f', 1, 64) }

// setting is one category: its marks, its label, and the column that answers to the pointer.
func (p *plot) setting(i int, label string) part {
	k := p.Categories[i]
	name := p.over + " " + k.Name() + ": " + k.Value
	focus := "0"
	if p.small {
		focus = "-1"
	}
	inner := parts{attrs{"x", percent(p.x(i)), "overflow", "visible"}}
	readouts := parts{}
	for j, s := range p.Series {
		if !p.Bars {
			inner = append(inner, p.mark(i, j))
		}
		readouts = append(readouts, readout(lineHeight*j+12, k.Name()+": "+s.Marks[i].Text()))
	}
	return el("g", class("point", when(k.Mark != "", "marked"), when(k.Uncompared != "", "uncompared"), when(k.Estimated, "estimated")), attrs{"tabindex", focus, "role", "img", "aria-label", phrase.Join(", ", name, k.Mark)},
		el("title", text(name)),
		el("rect class=hit", p.column(i), attrs{"y", 0, "height", p.height}),
		p.bars(i),
		el("svg", inner, p.label(i, label)),
		readouts)
}

// readout is shown at the right of a legend's line while its point is hovered.
func readout(y int, words string) part {
	return el("text class=readout x=100%", attrs{"y", y}, text(words))
}

func (p *plot) bars(i int) (list parts) {
	if !p.Bars {
		return nil
	}
	wide := p.step * 0.7 / float64(len(p.Series))
	for j, s := range p.Series {
		if m := s.Marks[i]; m.Present {
			list = append(list, el("rect", class("bar", p.kind(j)), attrs{"x", percent(p.x(i) - p.step*0.35 + wide*float64(j)), "y", p.y(m.At), "width", percent(wide * 0.9), "height", px(m.At * float64(p.tall))}))
		}
	}
	return list
}

func (p *plot) mark(i, j int) part {
	m := p.Series[j].Marks[i]
	top := m.At
	if m.Interval {
		top = m.High
	}
	value, end := p.names(i, j)
	return el("g", class(p.kind(j)), p.aside(j), each(m.Dots, p.dot),
		where(m.Interval, el("path class=interval", attrs{"d", "M0 " + p.y(m.Low) + "V" + p.y(m.High) + "M-6 " + p.y(m.Low) + "H6M-6 " + p.y(m.High) + "H6"})),
		where(m.Present, el("circle class=median cx=0 r=4", attrs{"cy", p.y(m.At)})),
		where(value != "", el("text class=value dy=-7 text-anchor=middle", attrs{"y", p.y(top)}, text(value))),
		where(end != "", el("text class=end x=11 dy=4", attrs{"y", p.y(m.At)}, text(end))))
}

// names are next to a point: the value where the answer is about it, and at the end of a
// line which one it is.
func (p *plot) names(i, j int) (value, end string) {
	k, s := p.Categories[i], p.Series[j]
	if p.small || p.many || !s.Marks[i].Present {
		return "", ""
	}
	if p.kind(j) == "main" && (k.Mark != "" || k.Default) {
		value = s.Marks[i].Value
	}
	// The series of another axis have names, which the key has room for and an end has not.
	if i == len(p.Categories)-1 && len(p.Series) > 1 && !p.Paired && p.Axis == "" && i < labelsNarrow {
		end = s.Name
	}
	return value, end
}

func (p *plot) dot(d document.Dot) part {
	x, y := px(d.Jitter*p.jitter), p.y(d.At)
	const offAbove = 8 // pixels
	if d.Off {         // it has no place in the chart
		y = px(float64(p.top - offAbove))
	}
	sign := el("circle class=dot r=2", attrs{"cx", x, "cy", y})
	if d.Kind == "invalid" {
		sign = el("text class=cross dy=4", attrs{"x", x, "y", y}, text("×"))
	}
	return el("g", class(d.Kind), el("title", text(d.Label)), sign)
}

// label is under a category, of this class where it has one; a mark is always shown.
func (p *plot) label(i int, of string) parts {
	k := p.Categories[i]
	sub := where(k.Sub != "", el("text class=sub dy=30", attrs{"y", p.foot}, text(k.Sub)))
	return parts{
		where(of != "", el("g", class(of), el("text dy=16", attrs{"y", p.foot}, text(k.Label)), sub)),
		where(k.Mark != "", el("text class=mark dy=46", attrs{"y", p.foot, "text-anchor", p.anchor(i)}, text("▲ "+k.Mark))),
	}
}

// anchor keeps the text of a mark inside of the chart.
func (p *plot) anchor(i int) string {
	switch {
	case p.x(i) > 85:
		return "end"
	case p.x(i) < 20:
		return "start"
	}
	return "middle"
}

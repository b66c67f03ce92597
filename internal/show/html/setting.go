package html

import (
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
)

// setting is what a chart shows of one category: its marks, its label, and the column
// that answers to the pointer with the values in words.
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

// offAbove is how far above a chart the trials are that have no place in it, in pixels.
const offAbove = 8

func (p *plot) dot(d document.Dot) part {
	x, y := px(d.Jitter*p.jitter), p.y(d.At)
	if d.Off {
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

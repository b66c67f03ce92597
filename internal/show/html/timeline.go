package html

import (
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
)

// Measures of what is over time: pixels down, per cent across.
const (
	timeHeight = 96
	flatHeight = 24 // of a chart with nothing in it
	timeRoom   = 20 // under the plot
	timeGutter = 6.0
	// The curves are drawn in a box of their own, stretched to the plot.
	boxWidth, boxHeight = 10000, 1000
)

// timePlot is the part of a drawing behind the labels of the value axis.
var timePlot = attrs{"x", "6%", "width", "94%"}

func timeline(t document.Timeline) part {
	list := each(t.Charts, func(c document.Course) part { return course(c, t.Ticks) })
	if t.Lanes != nil {
		list = append(list, lanesOf(t).figure())
	}
	return append(list, paragraph("key", t.Key))
}

// course draws curves.
func course(c document.Course, ticks []document.Tick) part {
	top, tall := lineHeight*len(c.Curves)+14, timeHeight
	if flat(c) {
		tall = flatHeight
	}
	foot := top + tall
	y := func(at float64) string { return px(float64(foot) - at*float64(tall)) }
	summary := c.Title + " over time:"
	legend := parts{}
	lines := parts{timePlot, attrs{"y", top, "height", tall, "viewBox", "0 0 10000 1000", "preserveAspectRatio", "none", "overflow", "visible"}}
	for i, curve := range c.Curves {
		kind := "main"
		if i > 0 {
			kind = "side"
		}
		name := curve.Name + ": " + curve.Mean + " on average, " + curve.Min + " to " + curve.Max
		summary += " " + name + "."
		at := lineHeight*i + 12
		legend = append(legend, el("g", class("legend", kind), el("rect class=swatch x=1 width=12 height=3", attrs{"y", at, "transform", "translate(0 -6)"}), el("text x=19", attrs{"y", at}, text(name))))
		lines = append(lines, el("g", class(kind), path("spread", band(curve.Points)), path("curve", means(curve.Points))))
	}
	return el("figure", class("chart", "time"), el("h4", text(c.Title)),
		el("svg width=100% role=img", attrs{"height", foot + timeRoom, "aria-label", summary},
			legend, each(c.Ticks, func(t document.Tick) part { return level(t, y) }), times(ticks, foot),
			el("svg", lines), reference("6%", c.Reference, y), columns(c.Curves, foot)),
		el("figcaption", text(c.Note)))
}

func path(of, d string) part {
	if d == "" {
		return nil
	}
	return el("path", attrs{"class", of, "d", d})
}

// columns are the stretches of time that answer to the pointer.
func columns(curves []document.Curve, foot int) (list parts) {
	if len(curves) == 0 {
		return nil
	}
	for j, p := range curves[0].Points {
		column := parts{class("point"), attrs{"tabindex", -1}, el("rect class=hit", across(p.Span), attrs{"y", 0, "height", foot})}
		for i, c := range curves {
			if p := c.Points[j]; p.Present {
				column = append(column, readout(lineHeight*i+12, p.Value))
			}
		}
		list = append(list, el("g", column))
	}
	return list
}

// flat reports that there is nothing but zeros to see.
func flat(c document.Course) bool {
	for _, s := range c.Curves {
		if s.Top > 0 {
			return false
		}
	}
	return c.Reference == nil
}

// means is a line that is level for as long as each point holds.
func means(points []document.Point) string {
	var b strings.Builder
	for i, p := range points {
		if !p.Present {
			continue
		}
		move := "M"
		if i > 0 && points[i-1].Present && points[i-1].To == p.From {
			move = "L"
		}
		b.WriteString(move + boxX(p.From) + " " + boxY(p.Mean) + "H" + boxX(p.To))
	}
	return b.String()
}

// band is between the extremes of each point, where they differ.
func band(points []document.Point) string {
	var b strings.Builder
	for _, p := range points {
		if p.Present && p.High > p.Low {
			b.WriteString("M" + boxX(p.From) + " " + boxY(p.Low) + "V" + boxY(p.High) + "H" + boxX(p.To) + "V" + boxY(p.Low) + "Z")
		}
	}
	return b.String()
}

func boxX(x float64) string { return strconv.Itoa(int(x*boxWidth + 0.5)) }
func boxY(y float64) string { return strconv.Itoa(boxHeight - int(y*boxHeight+0.5)) }

// at is a place behind the labels of the value axis, across is a stretch there.
func at(x float64) string { return percent(timeGutter + x*(100-timeGutter)) }
func across(s document.Span) attrs {
	return attrs{"x", at(s.From), "width", percent((s.To - s.From) * (100 - timeGutter))}
}

// times are under a chart.
func times(ticks []document.Tick, foot int) parts {
	return each(ticks, func(t document.Tick) part {
		anchor := "middle"
		if t.At > 0.97 {
			anchor = "end"
		}
		return el("text class=tick dy=15", attrs{"x", at(t.At), "y", foot, "text-anchor", anchor}, text(t.Label))
	})
}

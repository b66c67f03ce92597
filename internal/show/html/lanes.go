package html

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Measures of lanes: pixels down, a part of the whole or per cent across.
const (
	lanesTop   = 26
	laneName   = 14
	timeRoom   = 20 // under the lanes
	timeGutter = 6.0
	boxWidth   = 10000 // of the box in which short stretches are drawn, stretched to the lane

	laneRoom, laneTall = 44, 26     // arrows have room between the lanes
	thin               = 0.6 / 1128 // a stretch below it is drawn with others
	least              = 2          // of the width of the curves' box, that it shows

	keyColumns, keyRoom = 5, 20
	pictureWide         = 1200
	pictureHead         = 52
	pictureFoot         = 30
)

// timePlot is the part of a drawing behind the names of the lanes.
var timePlot = attrs{"x", "6%", "width", "94%"}

// lanes are rows of time, placed over its ticks.
type lanes struct {
	*document.Lanes
	ticks              []document.Tick
	foot, height, keys int
}

func lanesOf(t document.Timeline) lanes {
	l := lanes{Lanes: t.Lanes, ticks: t.Ticks}
	for _, f := range l.Fillings {
		if f.Name != "" {
			l.keys++
		}
	}
	l.foot = lanesTop + laneRoom*len(l.List)
	l.height = l.foot + timeRoom + keyRoom*((l.keys+keyColumns-1)/keyColumns)
	return l
}

// y is where a lane begins.
func (l lanes) y(i int) int { return lanesTop + laneRoom*i }

func (l lanes) figure() part {
	picture := el("svg width=100% role=img class=filled", attrs{"height", l.height, "aria-label", l.Summary}, l.drawing())
	return el("figure", class("chart", "time", "lanes"), el("h4", text(l.Title)),
		el("div class=scroll tabindex=0 role=region", attrs{"aria-label", "Picture, scrolls sideways"}, picture), el("figcaption", text(l.Note)))
}

func (l lanes) drawing() parts {
	list := parts{times(l.ticks, l.foot)}
	for i, lane := range l.List {
		var note part
		if lane.Note != "" {
			note = el("tspan x=0 dy=12", text(lane.Note))
		}
		list = append(list, el("rect class=ground", timePlot, attrs{"y", l.y(i), "height", laneTall}),
			el("text class=tick x=0", attrs{"y", l.y(i) + laneName}, text(lane.Name), note))
	}
	list = append(list, each(l.ticks, func(t document.Tick) part {
		return el("line class=grid", attrs{"x1", at(t.At), "x2", at(t.At), "y1", lanesTop, "y2", l.foot})
	}))
	for i := range l.List {
		list = append(list, l.fill(i))
	}
	return append(list, each(l.Arrows, l.arrow), l.key())
}

// fill draws the stretches of a lane that can be seen by themselves, and the others of each
// filling as one.
func (l lanes) fill(i int) (list parts) {
	thins := make([]shorts, len(l.Fillings))
	stretches := slices.Clone(l.List[i].Stretches)
	sorting.Stable(stretches, func(a, b document.Stretch) int { return cmp.Compare(a.From, b.From) })
	for _, s := range stretches {
		if s.To-s.From >= thin {
			list = append(list, l.stretch(s, l.y(i)))
		} else {
			thins[s.Of].add(s.Span)
		}
	}
	for of, t := range thins {
		if t.n > 0 {
			list = append(list, el("g", class("point", l.color(of)), attrs{"tabindex", -1},
				el("svg", timePlot, attrs{"y", l.y(i), "height", laneTall, "viewBox", "0 0 10000 1", "preserveAspectRatio", "none"}, path("stretch", t.path.String())),
				readout(12, fmt.Sprintf("%s: %d too short to draw separately", l.Fillings[of].Name, t.n))))
		}
	}
	return list
}

func (l lanes) stretch(s document.Stretch, y int) part {
	var label part
	if fits(s) {
		label = el("text class=in dx=5 dy=17", attrs{"x", at(s.From), "y", y}, text(s.Label))
	}
	return el("g", class("point", l.color(s.Of)), attrs{"tabindex", -1},
		el("rect class=stretch", across(s.Span), attrs{"y", y, "height", laneTall}), label, readout(12, s.Value))
}

// fits reports whether the label has room in the stretch, where the lanes are as narrow as
// they get.
func fits(s document.Stretch) bool {
	const letter, margin, narrow = 6.4, 8, 1098
	return s.Label != "" && float64(utf8.RuneCountInString(s.Label))*letter+margin < (s.To-s.From)*narrow
}

// shorts are the stretches of a lane and a filling that are too short to be pointed at.
type shorts struct {
	path  strings.Builder
	n     int
	until int
}

func (t *shorts) add(s document.Span) {
	t.n++
	from := int(s.From*boxWidth + 0.5)
	if from < t.until {
		return // it is covered
	}
	t.until = from + least
	fmt.Fprintf(&t.path, "M%d 0h%dv1h-%dz", from, least, least)
}

func (l lanes) arrow(a document.Arrow) part {
	from, to, tip := l.y(a.From)+laneTall, l.y(a.To), -5
	if a.To < a.From {
		from, to, tip = l.y(a.From), l.y(a.To)+laneTall, 5
	}
	return el("g class=point tabindex=-1",
		el("line", class("arrow", when(a.Doubtful, "doubtful")), attrs{"x1", at(a.At), "x2", at(a.At), "y1", from, "y2", to}),
		el("svg overflow=visible", attrs{"x", at(a.At), "y", to}, path("head", fmt.Sprintf("M0 0l-3.5 %dh7z", tip))),
		readout(12, a.Value))
}

// key names the fillings that are not explained elsewhere.
func (l lanes) key() (list parts) {
	for i, f := range l.Fillings {
		if f.Name == "" {
			continue
		}
		column, row := len(list)%keyColumns, len(list)/keyColumns
		x := percent(timeGutter + float64(column)*(100-timeGutter)/keyColumns)
		list = append(list, el("g", class("key", l.color(i)), el("svg overflow=visible", attrs{"x", x, "y", l.foot + timeRoom + keyRoom*(row+1) - 6},
			el("rect class=stretch y=-10 width=11 height=11 rx=2"), el("text x=17", text(f.Name)))))
	}
	return list
}

// color is the class that has the colour of a filling.
func (l lanes) color(i int) string {
	if l.Fillings[i].Aside {
		return "aside" + strconv.Itoa(len(l.Fillings)-i)
	}
	return "c" + strconv.Itoa(i%document.Distinct)
}

// Picture draws the lanes of a timeline as an SVG file that is complete by itself, light or dark as
// the reader's system is.
func Picture(t document.Timeline) ([]byte, error) {
	l := lanesOf(t)
	tall := pictureHead + l.height + pictureFoot
	return write("", el("svg xmlns=http://www.w3.org/2000/svg role=img", attrs{"viewBox", fmt.Sprintf("0 0 %d %d", pictureWide, tall), "width", pictureWide, "height", tall, "aria-label", l.Summary},
		el("style", text(style("picture.css"))),
		el("text class=title x=16 y=24", text(l.Title)),
		el("text x=16 y=43", text(l.Note)),
		el("svg x=16 overflow=visible", attrs{"class", "chart lanes filled", "y", pictureHead, "width", pictureWide - 32, "height", l.height}, l.drawing()),
		el("text x=16 dy=-12", attrs{"y", tall}, text(t.Key))))
}

func timeline(t document.Timeline) part {
	return parts{lanesOf(t).figure(), paragraph("key", t.Key)}
}

func path(of, d string) part { return el("path", attrs{"class", of, "d", d}) }

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

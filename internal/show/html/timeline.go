package html

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document"
)

// Measures of lanes: pixels down, a part of the whole across.
const (
	lanesTop  = 26
	laneRoom  = 18 // with few lanes
	laneTight = 13
	fewLanes  = 12
	faintest  = 0.14

	// Of lanes with fillings: arrows have room between them.
	filledRoom, filledTall = 44, 26
	thin                   = 0.6 / 1128 // a stretch below it is drawn with others
	least                  = 2          // of the width of the curves' box, that it shows

	keyColumns, keyRoom = 5, 20
	pictureWide         = 1200
	pictureHead         = 52
	pictureFoot         = 30
)

// lanesSVG is lanes placed.
type lanesSVG struct {
	*document.Lanes
	Ticks             []document.Tick
	Height, Top, Foot int
	Rows              []laneSVG
	Arrows            []arrowSVG
	Key               []keySVG
}

type laneSVG struct {
	document.Lane
	Y, Tall, Text int
	Bars          []barSVG
	Thin          []*thinSVG
}

type barSVG struct {
	document.Stretch
	Class, Opacity string
}

// Fits reports whether the label has room in the bar, where the lanes are as narrow as they
// get.
func (b barSVG) Fits() bool {
	const letter, margin, narrow = 6.4, 8, 1098
	return b.Label != "" && float64(utf8.RuneCountInString(b.Label))*letter+margin < (b.To-b.From)*narrow
}

// thinSVG is the stretches of a lane and a filling that are too short to be pointed at.
type thinSVG struct {
	strings.Builder
	Class string
	Text  string
	n     int
	until int
}

type arrowSVG struct {
	document.Arrow
	Y, Until, Tip int
}

type keySVG struct {
	X, Class, Text string
	Y              int
}

// lanes places lanes over the ticks of their time.
func lanes(t document.Timeline) lanesSVG {
	l := t.Lanes
	room, tall := laneRoom, laneRoom-1
	switch {
	case len(l.Fillings) > 0:
		room, tall = filledRoom, filledTall
	case len(l.List) > fewLanes:
		room, tall = laneTight, laneTight-1
	}
	s := lanesSVG{Lanes: l, Ticks: t.Ticks, Top: lanesTop, Foot: lanesTop + room*len(l.List)}
	for i, lane := range l.List {
		y := lanesTop + room*i
		row := laneSVG{Lane: lane, Y: y, Tall: tall, Text: y + min(tall, laneRoom) - 4}
		row.fill(l.Fillings)
		s.Rows = append(s.Rows, row)
	}
	for _, a := range l.Arrows {
		from, to := s.Rows[a.From].Y+tall, s.Rows[a.To].Y
		tip := -5
		if a.To < a.From {
			from, to, tip = s.Rows[a.From].Y, s.Rows[a.To].Y+tall, 5
		}
		s.Arrows = append(s.Arrows, arrowSVG{a, from, to, tip})
	}
	s.Height = s.Foot + timeRoom
	for i, f := range l.Fillings {
		if f.Name == "" {
			continue
		}
		column, row := len(s.Key)%keyColumns, len(s.Key)/keyColumns
		s.Height = s.Foot + timeRoom + (row+1)*keyRoom
		s.Key = append(s.Key, keySVG{percent(timeGutter + float64(column)*(100-timeGutter)/keyColumns), class(l.Fillings, i), f.Name, s.Height - 6})
	}
	return s
}

// fill sorts the stretches of the lane into those that can be seen by themselves, and
// the others of each filling.
func (r *laneSVG) fill(fillings []document.Filling) {
	thins := make([]*thinSVG, len(fillings))
	list := slices.Clone(r.Stretches)
	slices.SortStableFunc(list, func(a, b document.Stretch) int { return cmp.Compare(a.From, b.From) })
	for _, s := range list {
		if len(fillings) == 0 || s.To-s.From >= thin {
			r.Bars = append(r.Bars, barSVG{s, class(fillings, s.Of), strconv.FormatFloat(faintest+(1-faintest)*s.Weight, 'f', 2, 64)})
			continue
		}
		if thins[s.Of] == nil {
			thins[s.Of] = &thinSVG{Class: class(fillings, s.Of), Text: fillings[s.Of].Name}
		}
		thins[s.Of].add(s.Span)
	}
	for _, t := range thins {
		if t != nil {
			t.Text += fmt.Sprintf(": %d too short to draw separately", t.n)
			r.Thin = append(r.Thin, t)
		}
	}
}

func (t *thinSVG) add(s document.Span) {
	t.n++
	from := int(s.From*boxWidth + 0.5)
	if from < t.until {
		return // it is covered
	}
	t.until = from + least
	fmt.Fprintf(t, "M%d 0h%dv1h-%dz", from, least, least)
}

// class has the colour of a filling.
func class(fillings []document.Filling, i int) string {
	switch {
	case len(fillings) == 0:
		return ""
	case fillings[i].Aside:
		return "aside" + strconv.Itoa(len(fillings)-i)
	}
	return "c" + strconv.Itoa(i%document.Distinct)
}

// Picture draws the lanes of a timeline as an SVG file that is complete by itself, light or dark as
// the reader's system is.
func Picture(t document.Timeline) ([]byte, error) {
	templates, err := templates()
	if err != nil {
		return nil, err
	}
	p := struct {
		document.Timeline
		Lanes            lanesSVG
		Wide, Head, Tall int
	}{Timeline: t, Lanes: lanes(t), Wide: pictureWide, Head: pictureHead}
	p.Tall = pictureHead + p.Lanes.Height + pictureFoot
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, "picture", p); err != nil {
		return nil, fmt.Errorf("draw the picture: %w", err)
	}
	return out.Bytes(), nil
}

// Measures of what is over time: pixels down, per cent across.
const (
	timeHeight = 96
	flatHeight = 24 // of a chart with nothing in it
	timeRoom   = 20 // under the plot
	timeGutter = 6.0
	// The curves are drawn in a box of their own, stretched to the plot.
	boxWidth, boxHeight = 10000, 1000
)

// courseSVG is curves placed.
type courseSVG struct {
	document.Course
	Summary                 string
	Height, Top, Foot, Tall int
	Legend                  []legend
	Grid                    []grid
	Level                   *grid
	Lines                   []line
	Columns                 []column
}

type line struct{ Kind, Band, Line string }

// column is a stretch of time that answers to the pointer.
type column struct {
	document.Span
	Text []readout
}

func course(c document.Course) courseSVG {
	s := courseSVG{Course: c, Top: lineHeight*len(c.Curves) + 14, Tall: timeHeight, Summary: c.Title + " over time:"}
	if flat(c) {
		s.Tall = flatHeight
	}
	s.Foot = s.Top + s.Tall
	s.Height = s.Foot + timeRoom
	y := func(f float64) string { return px(float64(s.Foot) - f*float64(s.Tall)) }
	for _, t := range c.Ticks {
		s.Grid = append(s.Grid, grid{y(t.At), t.Label})
	}
	if c.Reference != nil {
		s.Level = &grid{y(c.Reference.At), c.Reference.Label}
	}
	for i, curve := range c.Curves {
		kind := "main"
		if i > 0 {
			kind = "side"
		}
		text := curve.Name + ": " + curve.Mean + " on average, " + curve.Min + " to " + curve.Max
		s.Summary += " " + text + "."
		s.Legend = append(s.Legend, legend{lineHeight*i + 12, text, kind})
		s.Lines = append(s.Lines, line{kind, band(curve.Points), means(curve.Points)})
		for j, p := range curve.Points {
			if i == 0 {
				s.Columns = append(s.Columns, column{Span: p.Span})
			}
			if p.Present {
				s.Columns[j].Text = append(s.Columns[j].Text, readout{lineHeight*i + 12, p.Value})
			}
		}
	}
	return s
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

// means is a line that is level for as long as each point stands.
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

// across and along are a place and a length behind the labels of the value axis.
func across(at float64) string     { return percent(timeGutter + at*(100-timeGutter)) }
func along(s document.Span) string { return percent((s.To - s.From) * (100 - timeGutter)) }

// timeAxis is the times under a chart.
type timeAxis struct {
	Ticks []document.Tick
	Foot  int
}

func times(ticks []document.Tick, foot int) timeAxis { return timeAxis{ticks, foot} }

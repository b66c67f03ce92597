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

package text

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/terminal"
)

const leastCurve = 8 // columns in which a course can still be seen

// levels are what a column filled from below looks like, by eighths.
var levels = []rune("▁▂▃▄▅▆▇█")

const eighths = 8

// timeline draws each curve on a scale of its own, which ends at its maximum. Lanes
// without fillings are for renderers that can draw.
func (w *writer) timeline(t document.Timeline) {
	if len(t.Charts) == 0 {
		w.lanes(t)
		return
	}
	names := []string{"min", "mean", "max"}
	var list []document.Curve
	grid := [][]string{append([]string{""}, names...)}
	for _, c := range t.Charts {
		for _, s := range c.Curves {
			list = append(list, s)
			grid = append(grid, []string{s.Alone, s.Min, s.Mean, s.Max})
		}
	}
	size := terminal.Widths(grid)
	shown := []int{1, 2, 3}
	room := func() int {
		n := w.Width - size[0] - 3
		for _, i := range shown {
			n -= 2 + size[i]
		}
		return n
	}
	if room() < leastCurve { // the mean alone, where all do not fit
		shown = shown[1:2]
	}
	wide := max(leastCurve, room())
	indent := size[0] + 3
	figures := func(row []string) (text string) {
		for _, i := range shown {
			text += "  " + terminal.Pad(row[i], size[i], false)
		}
		return text
	}
	w.Line(w.Style(terminal.Dim, strings.Repeat(" ", indent+wide)+figures(grid[0])))
	for i, s := range list {
		top, foot := stretched(s, wide)
		if s.Min != s.Max { // else it is level all the time
			w.Line(strings.Repeat(" ", indent) + w.Cells(top))
		}
		w.Line("  " + terminal.Pad(s.Alone, size[0], true) + " " + w.Cells(foot) + figures(grid[1+i]))
	}
	w.axis(t.Ticks, indent-1, wide)
}

// stretched is the highest of the curve in each column, in a row above another.
func stretched(s document.Curve, wide int) (top, foot []terminal.Cell) {
	level := make([]int, wide) // 0: nothing seen
	for _, p := range s.Points {
		if !p.Present {
			continue
		}
		from, to := int(p.From*float64(wide)), int(p.To*float64(wide))
		n := 1
		if p.High > 0 && s.Top > 0 {
			n = min(2*eighths, 2+int(p.High/s.Top*(2*eighths-2)+0.5))
		}
		for x := min(from, wide-1); x < max(to, from+1) && x < wide; x++ {
			level[x] = max(level[x], n)
		}
	}
	for _, n := range level {
		style := terminal.Cyan
		if n <= 1 {
			style = terminal.Dim
		}
		top = append(top, terminal.Cell{Rune: filled(n - eighths), Style: style})
		foot = append(foot, terminal.Cell{Rune: filled(n), Style: style})
	}
	return top, foot
}

func filled(n int) rune {
	if n <= 0 {
		return ' '
	}
	return levels[min(n, eighths)-1]
}

// nobody is the sign of a lane that is empty there.
const nobody = '·'

// colors are given to the fillings in turn: the terminal's own six.
var colors = []string{terminal.Cyan, terminal.Yellow, terminal.Green, "35", "34", terminal.Red}

// lanes have in each column the sign of what fills them longest there.
func (w *writer) lanes(t document.Timeline) {
	if t.Lanes == nil || len(t.Lanes.Fillings) == 0 {
		return
	}
	label := 0
	for _, l := range t.Lanes.List {
		label = max(label, utf8.RuneCountInString(l.Name))
	}
	indent := label + 3
	wide := w.Width - indent
	seen := make([]bool, len(t.Lanes.Fillings))
	for _, l := range t.Lanes.List {
		cells := slices.Repeat([]terminal.Cell{{Rune: nobody, Style: terminal.Dim}}, wide)
		longest := make([]float64, wide)
		of := make([]int, wide)
		for _, s := range l.Stretches {
			from, to := s.From*float64(wide), s.To*float64(wide)
			for x := min(int(from), wide-1); x <= min(int(to), wide-1); x++ {
				if part := min(to, float64(x+1)) - max(from, float64(x)); part > longest[x] {
					longest[x], of[x], cells[x] = part, s.Of, filling(t.Lanes.Fillings[s.Of], s.Of)
				}
			}
		}
		for x, part := range longest {
			seen[of[x]] = seen[of[x]] || part > 0
		}
		w.Line("  " + terminal.Pad(l.Name, label, true) + " " + w.Cells(cells))
	}
	w.axis(t.Ticks, indent-1, wide)
	legend := string(nobody) + " none"
	for i, f := range t.Lanes.Fillings {
		if seen[i] && f.Name != "" {
			legend += "   " + string(f.Sign) + " " + f.Name
		}
	}
	w.Line(w.Style(terminal.Dim, strings.Repeat(" ", indent)+legend))
}

func filling(f document.Filling, i int) terminal.Cell {
	if f.Aside {
		return terminal.Cell{Rune: f.Sign, Style: terminal.Dim}
	}
	return terminal.Cell{Rune: f.Sign, Style: colors[i%len(colors)]}
}

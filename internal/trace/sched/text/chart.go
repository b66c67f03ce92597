package text

import (
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/trace/sched/view"
)

const (
	chartRows = 2
	eighths   = 8
	leastPlot = 8
)

// bars are filled from below by eighths.
var bars = []rune("▁▂▃▄▅▆▇█")

// charts draws each series on a scale of its own, which ends at its maximum.
func (w writer) charts(v *view.View) {
	var list []view.Series
	label := 0
	figures := [3]int{3, 4, 3} // under "min", "mean", "max"
	for _, c := range v.Charts {
		for _, s := range c.Series {
			list = append(list, s)
			label = max(label, utf8.RuneCountInString(s.Alone))
			for i, f := range []string{s.Min, s.Mean, s.Max} {
				figures[i] = max(figures[i], utf8.RuneCountInString(f))
			}
		}
	}
	shown := []int{0, 1, 2}
	names := []string{"min", "mean", "max"}
	room := func() int {
		n := w.Width - label - 3
		for _, i := range shown {
			n -= 2 + figures[i]
		}
		return n
	}
	if room() < leastPlot { // the mean alone, where all do not fit
		shown = shown[1:2]
	}
	wide := max(leastPlot, room())
	indent := label + 3
	head := strings.Repeat(" ", indent+wide)
	for _, i := range shown {
		head += "  " + terminal.Pad(names[i], figures[i], false)
	}
	w.Line(w.Style(terminal.Dim, head))
	for _, s := range list {
		plot := plot(s, wide)
		for row := range plot {
			if row < chartRows-1 && s.Min == s.Max {
				continue // level all the time
			}
			name, figure := "", ""
			if row == chartRows-1 {
				name = s.Alone
				for _, i := range shown {
					figure += "  " + terminal.Pad([]string{s.Min, s.Mean, s.Max}[i], figures[i], false)
				}
			}
			w.Line("  " + terminal.Pad(name, label, true) + " " + w.Cells(plot[row]) + figure)
		}
	}
	w.time(v.Time, indent, wide)
}

// plot is the highest of the series in each column, from the top row down.
func plot(s view.Series, wide int) [chartRows][]terminal.Cell {
	level := make([]int, wide) // 0: nothing seen
	for _, p := range s.Points {
		if !p.Present {
			continue
		}
		from, until := int(p.From*float64(wide)), int(p.Until*float64(wide))
		n := 1
		if p.High > 0 && s.Top > 0 {
			n = min(chartRows*eighths, 2+int(p.High/s.Top*(chartRows*eighths-2)+0.5))
		}
		for x := min(from, wide-1); x < max(until, from+1) && x < wide; x++ {
			level[x] = max(level[x], n)
		}
	}
	var rows [chartRows][]terminal.Cell
	for row := range rows {
		below := (chartRows - 1 - row) * eighths
		for _, n := range level {
			c := terminal.Cell{Rune: ' ', Style: terminal.Cyan}
			if n > below {
				c.Rune = bars[min(n-below, eighths)-1]
			}
			if n <= 1 {
				c.Style = terminal.Dim
			}
			rows[row] = append(rows[row], c)
		}
	}
	return rows
}

// time is the axis below all of them.
func (w writer) time(ticks []view.Tick, indent, wide int) {
	line := []rune(strings.Repeat("─", wide))
	text := []rune(strings.Repeat(" ", wide+12))
	free := 0 // labels never touch
	for _, t := range ticks {
		x := min(wide-1, int(t.At*float64(wide)))
		line[x] = '┴'
		label := []rune(t.Label)
		if x >= free && x+len(label) <= wide+6 {
			copy(text[x:], label)
			free = x + len(label) + 1
		}
	}
	pad := strings.Repeat(" ", indent)
	w.Line(w.Style(terminal.Dim, pad+string(line)))
	w.Line(w.Style(terminal.Dim, pad+strings.TrimRight(string(text), " ")))
}

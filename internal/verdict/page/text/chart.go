package text

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/verdict/page"
)

// One glyph a series; a third and later series repeat the last.
var glyphs = []rune{'●', '○'}

// chart draws one line a setting: the interval, the median on it, the value beside.
// A single series on a linear axis is a bar from 0; of two, the last one has the
// filled dot, since it is the one to look at (p99).
func (w *writer) chart(c *page.Chart) {
	marks := ""
	if len(c.Series) > 1 {
		marks = legend(c)
	}
	title := strings.ToUpper(c.Title)
	if c.Unit != "" {
		title += " " + c.Unit
	}
	w.Line(w.Style(terminal.Bold, title) + marks)
	note := c.Note
	if c.Log {
		note += ", logarithmic scale"
	}
	w.Wrap("", "", note, terminal.Dim)

	labels, labelWide := settingLabels(c)
	// "▸ label │plot  values". Where the plot would have no room, only the values of
	// the series to look at stand beside it; the table has the others.
	values, valueWide := beside(c, 0)
	if w.Width-labelWide-valueWide-6 < leastPlot {
		values, valueWide = beside(c, len(c.Series)-1)
	}
	wide := max(leastPlot, w.Width-labelWide-valueWide-6)
	for i, k := range c.Categories {
		sign, style := "  ", ""
		if k.Mark != "" {
			sign, style = "▸ ", terminal.Cyan+";"+terminal.Bold
		}
		w.Line(w.Style(style, sign+terminal.Pad(labels[i], labelWide, false)) + w.Style(terminal.Dim, " │") +
			w.row(c, i, wide, style) + "  " + w.Style(style, terminal.Pad(values[i], valueWide, false)))
	}
	w.axis(c, labelWide+3, wide)
}

// leastPlot is the columns in which an order can still be seen.
const leastPlot = 5

// beside is the values of the series from that one on, by setting.
func beside(c *page.Chart, from int) (values []string, wide int) {
	values = make([]string, len(c.Categories))
	columns := seriesWidths(c)
	for i := range c.Categories {
		for j := from; j < len(c.Series); j++ {
			if j > from {
				values[i] += "  "
			}
			values[i] += terminal.Pad(c.Series[j].Marks[i].Value, columns[j], false)
		}
		wide = max(wide, utf8.RuneCountInString(values[i]))
	}
	return values, wide
}

func seriesWidths(c *page.Chart) []int {
	out := make([]int, len(c.Series))
	for i, s := range c.Series {
		for _, m := range s.Marks {
			out[i] = max(out[i], utf8.RuneCountInString(m.Value))
		}
	}
	return out
}

func glyph(i, n int) rune { return glyphs[min(len(glyphs)-1, n-1-i)] }

func (w *writer) row(c *page.Chart, setting, wide int, style string) string {
	cells := make([]terminal.Cell, wide)
	for i := range cells {
		cells[i] = terminal.Cell{Rune: ' '}
	}
	for i, s := range c.Series {
		m := s.Marks[setting]
		if !m.Present {
			continue
		}
		at := column(m.At, wide)
		if len(c.Series) == 1 && !c.Log {
			for x := range at {
				cells[x] = terminal.Cell{Rune: '━', Style: terminal.Dim}
			}
		}
		if m.Interval {
			low, high := column(m.Low, wide), column(m.High, wide)
			for x := low; x <= high; x++ {
				cells[x] = terminal.Cell{Rune: '─', Style: style}
			}
			if low < at {
				cells[low] = terminal.Cell{Rune: '├', Style: style}
			}
			if high > at {
				cells[high] = terminal.Cell{Rune: '┤', Style: style}
			}
		}
		cells[at] = terminal.Cell{Rune: glyph(i, len(c.Series)), Style: style}
	}
	return w.Cells(cells)
}

func (w *writer) axis(c *page.Chart, indent, wide int) {
	line := []rune("└" + strings.Repeat("─", wide))
	text := []rune(strings.Repeat(" ", wide+indent+12))
	free := 0 // labels never touch
	for _, t := range c.Ticks {
		x := column(t.At, wide)
		line[1+x] = '┴'
		label := []rune(t.Label)
		from := max(0, indent+1+x-len(label)/2)
		if from < free {
			continue
		}
		copy(text[from:], label)
		free = from + len(label) + 1
	}
	w.Line(w.Style(terminal.Dim, strings.Repeat(" ", indent)+string(line)))
	w.Line(w.Style(terminal.Dim, strings.TrimRight(string(text), " ")))
}

func column(at float64, wide int) int { return int(math.Round(at * float64(wide-1))) }

package text

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
)

// One glyph a series; a third and later series repeat the last.
var glyphs = []rune{'●', '○'}

func glyph(i, n int) rune { return glyphs[min(len(glyphs)-1, n-1-i)] }

func (w *writer) charts(c document.Charts) {
	for i := range c.List {
		w.chart(&c.List[i])
		w.Gap()
	}
}

// chart draws one line a setting: the interval, the median on it, the value next to it.
// A single series on a linear axis is a bar from 0; of two, the last one has the
// filled dot, since it is the one to look at (p99).
func (w *writer) chart(c *document.Chart) {
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
		note = strings.TrimPrefix(note+", logarithmic scale", ", ")
	}
	w.Wrap("", "", note, terminal.Dim)

	labels, labelWide := settingLabels(c)
	// "▸ label │plot  values". Where the plot would have no room, only the values of
	// the series to look at are next to it; the table has the others.
	values, valueWide := valuesFrom(c, 0)
	if w.Width-labelWide-valueWide-6 < leastPlot {
		values, valueWide = valuesFrom(c, len(c.Series)-1)
	}
	explained, explainedWide := explained(c, values, valueWide)
	if w.Width-labelWide-explainedWide-6 >= leastPlot { // else the table says it
		values, valueWide = explained, explainedWide
	}
	wide := max(leastPlot, w.Width-labelWide-valueWide-6)
	for i, k := range c.Categories {
		label, style := w.label(k, labels[i], labelWide)
		w.Line(label + w.plot(c, i, wide, style) + w.Style(style, terminal.Pad(values[i], valueWide, false)))
	}
	w.axis(c.Ticks, labelWide+3, wide)
}

// leastPlot is the columns in which an order can still be seen.
const leastPlot = 5

// label begins a setting's line, and says in which style it continues.
func (w *writer) label(k document.Category, label string, wide int) (text, style string) {
	sign := "  "
	switch {
	case k.Uncompared != "":
		style = terminal.Dim
	case k.Mark != "":
		sign, style = "▸ ", terminal.Cyan+";"+terminal.Bold
	}
	return w.Style(style, sign+terminal.Pad(label, wide, false)), style
}

// valuesFrom are the values of the series from that one on, by setting.
func valuesFrom(c *document.Chart, from int) (values []string, wide int) {
	values = make([]string, len(c.Categories))
	for j := from; j < len(c.Series); j++ {
		column := 0
		for _, m := range c.Series[j].Marks {
			column = max(column, utf8.RuneCountInString(m.Value))
		}
		for i := range values {
			if j > from {
				values[i] += "  "
			}
			values[i] += terminal.Pad(c.Series[j].Marks[i].Value, column, false)
			wide = max(wide, utf8.RuneCountInString(values[i]))
		}
	}
	return values, wide
}

// explained are the values, with why a setting is not compared.
func explained(c *document.Chart, values []string, wide int) ([]string, int) {
	words := 0
	for _, k := range c.Categories {
		words = max(words, utf8.RuneCountInString(k.Uncompared))
	}
	if words == 0 {
		return values, wide
	}
	list := slices.Clone(values)
	for i, k := range c.Categories {
		list[i] = terminal.Pad(list[i], wide, false) + "  " + terminal.Pad(k.Uncompared, words, true)
	}
	return list, wide + 2 + words
}

// plot is a setting's marks, behind the value axis.
func (w *writer) plot(c *document.Chart, setting, wide int, style string) string {
	cells := slices.Repeat([]terminal.Cell{{Rune: ' '}}, wide)
	for i, s := range c.Series {
		m := s.Marks[setting]
		if !m.Present {
			continue
		}
		at := column(m.At, wide)
		if len(c.Series) == 1 && !c.Log && c.Categories[setting].Uncompared == "" {
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
				cells[low].Rune = '├'
			}
			if high > at {
				cells[high].Rune = '┤'
			}
		}
		cells[at] = terminal.Cell{Rune: glyph(i, len(c.Series)), Style: style}
		switch k := c.Categories[setting]; {
		case k.Uncompared != "":
			cells[at].Rune = '×'
		case k.Estimated:
			cells[at].Rune = '○'
		}
	}
	return w.Style(terminal.Dim, " │") + w.Cells(cells) + "  "
}

func (w *writer) axis(ticks []document.Tick, indent, wide int) {
	line := []rune("└" + strings.Repeat("─", wide))
	text := []rune(strings.Repeat(" ", wide+indent+12))
	free := 0 // labels never touch
	for _, t := range ticks {
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

// small are charts side by side, a line each setting, without axes: the values are
// next to the marks.
func (w *writer) small(c document.Charts) {
	list := c.List
	labels, labelWide := settingLabels(&list[0])
	// "▸ label" and, for each, " │plot  value".
	const between = 4
	values, wides, taken := make([][]string, len(list)), make([]int, len(list)), 2+labelWide
	same := true
	for i := range list {
		values[i], wides[i] = valuesFrom(&list[i], len(list[i].Series)-1)
		taken += between + wides[i]
		others, _ := settingLabels(&list[i])
		same = same && slices.Equal(labels, others)
	}
	wide := (w.Width - taken) / len(list)
	if wide < leastPlot || !same {
		w.charts(c)
		return
	}
	head := strings.Repeat(" ", 2+labelWide)
	for i := range list {
		room := wide + 2 + wides[i]
		title := smallTitle(&list[i])
		if utf8.RuneCountInString(title) > room {
			title = strings.TrimSuffix(title, logarithmic)
		}
		head += "  " + terminal.Pad(phrase.Clip(title, room), room, true)
	}
	w.Line(w.Style(terminal.Bold, strings.TrimRight(head, " ")))
	for setting, k := range list[0].Categories {
		line, style := w.label(k, labels[setting], labelWide)
		for i := range list {
			line += w.plot(&list[i], setting, wide, style) + w.Style(style, terminal.Pad(values[i][setting], wides[i], false))
		}
		w.Line(line)
	}
}

// smallTitle is the title with what its marks are.
func smallTitle(c *document.Chart) string {
	title := strings.ToUpper(c.Title)
	if len(c.Series) > 1 {
		title += legend(c)
	}
	if c.Log {
		title += logarithmic
	}
	return title
}

// logarithmic is a scale whose values are next to the marks: of a title it is the first to go.
const logarithmic = ", log"

func legend(c *document.Chart) (text string) {
	for i, s := range c.Series {
		text += "  " + string(glyph(i, len(c.Series))) + " " + s.Name
	}
	return text
}

// settingLabels are the names next to the marks, with what "unset" resolved to.
func settingLabels(c *document.Chart) (labels []string, wide int) {
	for _, k := range c.Categories {
		labels = append(labels, k.Name())
		wide = max(wide, utf8.RuneCountInString(k.Name()))
	}
	return labels, wide
}

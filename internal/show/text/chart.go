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

// values are those of the last series, which is the one to look at (p99), by setting.
func values(c *document.Chart) []string {
	if len(c.Series) == 0 {
		return make([]string, len(c.Categories))
	}
	return phrase.Each(c.Series[len(c.Series)-1].Marks, func(m document.Mark) string { return m.Value })
}

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

func column(at float64, wide int) int { return int(math.Round(at * float64(wide-1))) }

// charts are side by side, a line each setting, without axes: the values are next to the marks.
// A single series on a linear axis is a bar from 0; of two, the last one has the filled dot.
// Where there is no room, or where the settings differ, one follows the other.
func (w *writer) charts(list []document.Chart) {
	if len(list) == 0 {
		return
	}
	labels := settingLabels(&list[0])
	labelWide := widest(labels)
	// "▸ label" and, for each, " │plot  value".
	const between = 4
	shown, wides, taken, same := make([][]string, len(list)), make([]int, len(list)), 2+labelWide, true
	for i := range list {
		shown[i] = values(&list[i])
		wides[i] = widest(shown[i])
		taken += between + wides[i]
		same = same && slices.Equal(labels, settingLabels(&list[i]))
	}
	const leastPlot = 5 // columns in which an order can still be seen
	wide := max(leastPlot, (w.Width-taken)/len(list))
	if len(list) > 1 && (!same || taken+len(list)*wide > w.Width) {
		for i := range list {
			w.charts(list[i : i+1])
			w.Gap()
		}
		return
	}
	head := strings.Repeat(" ", 2+labelWide)
	for i := range list {
		room := wide + 2 + wides[i]
		title := chartTitle(&list[i])
		if utf8.RuneCountInString(title) > room {
			title = strings.TrimSuffix(title, logarithmic)
		}
		head += "  " + terminal.Pad(phrase.Clip(title, room), room, true)
	}
	w.Line(w.Style(terminal.Bold, strings.TrimRight(head, " ")))
	for setting, k := range list[0].Categories {
		line, style := w.label(k, labels[setting], labelWide)
		for i := range list {
			line += w.plot(&list[i], setting, wide, style) + w.Style(style, terminal.Pad(shown[i][setting], wides[i], false))
		}
		w.Line(line)
	}
}

func chartTitle(c *document.Chart) string {
	title := capitals(c.Title)
	for i, s := range c.Series {
		if len(c.Series) > 1 {
			title += "  " + string(glyph(i, len(c.Series))) + " " + s.Name
		}
	}
	if c.Log {
		title += logarithmic
	}
	return title
}

// logarithmic is a scale whose values are next to the marks: of a title it is the first to go.
const logarithmic = ", log"

func settingLabels(c *document.Chart) []string {
	return phrase.Each(c.Categories, document.Category.Name)
}

// nobody is the sign of a lane that is empty there.
const nobody = '·'

// colors are given to the fillings in turn: the terminal's own six.
var colors = []string{terminal.Cyan, terminal.Yellow, terminal.Green, "35", "34", terminal.Red}

// timeline has in each column of its lanes the sign of what fills them longest there.
func (w *writer) timeline(t document.Timeline) {
	label := widest(phrase.Each(t.Lanes, func(l document.Lane) string { return l.Name }))
	indent := label + 3
	wide := w.Width - indent
	seen := make([]bool, len(t.Fillings))
	for _, l := range t.Lanes {
		cells := slices.Repeat([]terminal.Cell{{Rune: nobody, Style: terminal.Dim}}, wide)
		longest := make([]float64, wide)
		of := make([]int, wide)
		for _, s := range l.Stretches {
			from, to := s.From*float64(wide), s.To*float64(wide)
			for x := min(int(from), wide-1); x <= min(int(to), wide-1); x++ {
				if part := min(to, float64(x+1)) - max(from, float64(x)); part > longest[x] {
					f, style := t.Fillings[s.Of], colors[s.Of%len(colors)]
					if f.Aside {
						style = terminal.Dim
					}
					longest[x], of[x], cells[x] = part, s.Of, terminal.Cell{Rune: f.Sign, Style: style}
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
	for i, f := range t.Fillings {
		if seen[i] && f.Name != "" {
			legend += "   " + string(f.Sign) + " " + f.Name
		}
	}
	w.Line(w.Style(terminal.Dim, strings.Repeat(" ", indent)+legend))
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

package text

import (
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/verdict/page"
)

// foot is the screen that a terminal stands at when the prompt is back: curves, paths
// and answer, in so many lines as it has. What it has no room for comes before, in the
// order of the rest.
type foot struct {
	group   *page.Group // whose curves; nil: they stand with their groups
	summary *page.Table // of several groups, of which no two curves tell
}

// footOf is for a terminal whose height is known.
func (w *writer) footOf(v *page.View) foot {
	switch {
	case w.height == 0:
		return foot{}
	case len(v.Groups) == 1 && (v.Groups[0].Throughput != nil || v.Groups[0].Latency != nil):
		return foot{group: &v.Groups[0]}
	}
	return foot{summary: v.Summary}
}

// foot writes it: the curves in full where they fit, else small, and then the paths
// in less lines too.
func (w *writer) foot(f foot, v *page.View) {
	const prompt = 1
	end := w.block(func(w *writer) { w.paths(w.files); w.last(v.Verdict) })
	var start []byte
	switch {
	case f.group != nil:
		start = w.block(func(w *writer) { w.charts(f.group) })
		if lines(start)+lines(end)+prompt > w.height {
			start = w.block(func(w *writer) { w.small(f.group) })
		}
	case f.summary != nil:
		start = w.block(func(w *writer) { w.table(*f.summary) })
	default:
		w.append(end)
		return
	}
	if lines(start)+lines(end)+prompt > w.height {
		end = w.block(func(w *writer) { w.paths(together(w.files)); w.last(v.Verdict) })
	}
	w.append(start)
	w.append(end)
}

// block is what write writes, with an empty line before it.
func (w *writer) block(write func(*writer)) []byte {
	part := &writer{Writer: &terminal.Writer{Width: w.Width, Color: w.Color}, files: w.files, height: w.height}
	part.Line("")
	write(part)
	return part.Bytes()
}

// append adds a block; its empty line is one with what stood before.
func (w *writer) append(block []byte) {
	w.Gap()
	text := strings.TrimLeft(string(block), "\n")
	w.WriteString(text)
}

// lines are those that a block adds.
func lines(block []byte) int { return strings.Count(strings.TrimRight(string(block), "\n"), "\n") + 1 }

// together are paths of one folder in one line, but for the first.
func together(files []string) []string {
	if len(files) < 3 {
		return files
	}
	dir := filepath.Dir(files[0])
	var names []string
	for _, f := range files[1:] {
		if filepath.Dir(f) != dir {
			return files
		}
		names = append(names, filepath.Base(f))
	}
	return []string{files[0], strings.Join(names, ", ") + " beside it"}
}

// charts are the curves in full.
func (w *writer) charts(g *page.Group) {
	for _, c := range []*page.Chart{g.Throughput, g.Latency} {
		if c != nil {
			w.chart(c)
			w.Gap()
		}
	}
}

// small are both curves side by side, a line each setting, without axes: the values
// stand beside the marks.
func (w *writer) small(g *page.Group) {
	var list []*page.Chart
	for _, c := range []*page.Chart{g.Throughput, g.Latency} {
		if c != nil {
			list = append(list, c)
		}
	}
	labels, labelWide := settingLabels(list[0])
	// "▸ label" and, for each, " │plot  value".
	const between = 4
	values, wides, taken := make([][]string, len(list)), make([]int, len(list)), 2+labelWide
	for i, c := range list {
		values[i], wides[i] = beside(c, len(c.Series)-1)
		taken += between + wides[i]
	}
	wide := (w.Width - taken) / len(list)
	if wide < leastPlot || len(list) > 1 && !sameSettings(list[0], list[1]) {
		w.charts(g)
		return
	}
	head := strings.Repeat(" ", 2+labelWide)
	for i, c := range list {
		head += "  " + terminal.Pad(cut(smallTitle(c), wide+2+wides[i]), wide+2+wides[i], true)
	}
	w.Line(w.Style(terminal.Bold, strings.TrimRight(head, " ")))
	for setting, k := range list[0].Categories {
		sign, style := "  ", ""
		if k.Mark != "" {
			sign, style = "▸ ", terminal.Cyan+";"+terminal.Bold
		}
		line := w.Style(style, sign+terminal.Pad(labels[setting], labelWide, false))
		for i, c := range list {
			line += w.Style(terminal.Dim, " │") + w.row(c, setting, wide, style) + "  " + w.Style(style, terminal.Pad(values[i][setting], wides[i], false))
		}
		w.Line(line)
	}
	w.Gap()
}

// smallTitle is the title with what its marks are.
func smallTitle(c *page.Chart) string {
	title := strings.ToUpper(c.Title)
	if len(c.Series) > 1 {
		title += legend(c)
	}
	if c.Log {
		title += ", log"
	}
	return title
}

func legend(c *page.Chart) (text string) {
	for i, s := range c.Series {
		text += "  " + string(glyph(i, len(c.Series))) + " " + s.Name
	}
	return text
}

// settingLabels are the names beside the marks, with what "unset" resolved to.
func settingLabels(c *page.Chart) (labels []string, wide int) {
	labels = make([]string, len(c.Categories))
	for i, k := range c.Categories {
		labels[i] = k.Label
		if k.Sub != "" {
			labels[i] += " (" + k.Sub + ")"
		}
		wide = max(wide, utf8.RuneCountInString(labels[i]))
	}
	return labels, wide
}

func sameSettings(a, b *page.Chart) bool {
	if len(a.Categories) != len(b.Categories) {
		return false
	}
	for i := range a.Categories {
		if a.Categories[i].Label != b.Categories[i].Label {
			return false
		}
	}
	return true
}

// cut leaves so many columns.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:max(0, n-1)]) + "…"
	}
	return s
}

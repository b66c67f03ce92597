package text

import (
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/trace/sched/view"
)

// procs has a bar for each P's mean queue and, where they are known, one for its
// share of the time slices.
func (w writer) procs(p *view.Procs) {
	grid := [][]string{{"", "mean", "max", "share"}}
	for _, r := range p.Rows {
		grid = append(grid, []string{r.Name, r.Mean, r.Max, r.Share})
	}
	size := terminal.Widths(grid)
	fixed := 2 + size[0] + 1 + 2 + size[1] + 2 + size[2] + 2 + size[3]
	bar, slices := w.Width-fixed, 0
	const share = 6 // of a tick share
	if p.Ticks {
		bar = (bar - 3 - share) / 2
		slices = bar
		if bar < leastPlot { // no room for both
			bar, slices = w.Width-fixed, 0
		}
	}
	bar = max(3, bar)
	title := "WAITING ON EACH P"
	head := terminal.Pad("", fixed+bar-2-utf8.RuneCountInString(title), true)
	if n := bar + size[0] + 1 - utf8.RuneCountInString(title); n >= 0 {
		head = strings.Repeat(" ", n)
		for i := 1; i < len(size); i++ {
			head += "  " + terminal.Pad(grid[0][i], size[i], false)
		}
	}
	if slices > 0 {
		head += "   time slices begun"
	}
	w.Line(w.Style(terminal.Bold, title) + "  " + w.Style(terminal.Dim, head))
	for i, r := range p.Rows {
		line := "  " + terminal.Pad(r.Name, size[0], true) + " " + w.bar(r.At, bar)
		for j, cell := range grid[1+i][1:] {
			line += "  " + terminal.Pad(cell, size[1+j], false)
		}
		if slices > 0 {
			line += "   " + w.bar(r.TickAt, slices) + terminal.Pad(r.TickShare, share, false)
		}
		w.Line(line)
	}
	if p.Rest != "" {
		w.Wrap("  ", "  ", p.Rest, terminal.Dim)
	}
}

func (w writer) waits(v *view.View) {
	grid := [][]string{{"", "mean", "most"}}
	for _, r := range v.Waits {
		grid = append(grid, []string{r.Name, r.Mean, r.Max})
	}
	size := terminal.Widths(grid)
	bar := max(3, w.Width-2-size[0]-1-2-size[1]-2-size[2])
	title := "WHAT GOROUTINES WAIT FOR"
	head := terminal.Pad("mean", size[1], false) + "  " + terminal.Pad("most", size[2], false)
	w.Line(w.Style(terminal.Bold, title) + strings.Repeat(" ", max(1, 2+size[0]+1+bar+2-len(title))) + w.Style(terminal.Dim, head))
	for i, r := range v.Waits {
		g := grid[1+i]
		w.Line("  " + terminal.Pad(g[0], size[0], true) + " " + w.bar(r.At, bar) + "  " + terminal.Pad(g[1], size[1], false) + "  " + terminal.Pad(g[2], size[2], false))
	}
	if v.RuntimeWaits != "" {
		w.Wrap("  ", "  ", v.RuntimeWaits, terminal.Dim)
	}
}

// bar is filled up to a fraction, in halves of a column; what is not nothing shows.
func (w writer) bar(at float64, wide int) string {
	n := int(at*float64(2*wide) + 0.5)
	if at > 0 {
		n = max(1, n)
	}
	s := strings.Repeat("━", n/2)
	if n%2 == 1 {
		s += "╸"
	}
	return w.Style(terminal.Cyan, s) + strings.Repeat(" ", wide-(n+1)/2)
}

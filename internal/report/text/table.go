package text

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/report"
)

// table lays out the columns that have a short heading. When they do not fit, the
// gaps shrink, then the details go, then the table goes on below itself: a figure
// left out silently would be worse.
func (w *writer) table(t report.Table) {
	var grid [][]string
	var left []bool
	gap := 2
	for _, details := range []bool{true, false} {
		grid, left = cells(t, details)
		for gap = 2; gap >= 1; gap-- {
			if total(grid, gap) <= w.Width {
				w.grid(t, grid, left, gap)
				return
			}
		}
	}
	size := widths(grid)
	if len(size) > 1 && len(markNone)+size[0]+1+slices.Max(size[1:]) > w.Width {
		w.records(t, grid)
		return
	}
	for from := 1; from < len(size); {
		to := from + 1
		for wide := len(markNone) + size[0] + 1 + size[from]; to < len(size) && wide+1+size[to] <= w.Width; to++ {
			wide += 1 + size[to]
		}
		part := make([][]string, len(grid))
		for i, row := range grid {
			part[i] = append([]string{row[0]}, row[from:to]...)
		}
		if from > 1 {
			w.gap()
		}
		w.grid(t, part, append([]bool{left[0]}, left[from:to]...), 1)
		from = to
	}
}

// records writes each row as its name and, below, its cells with their headings:
// for names that leave no room beside them.
func (w *writer) records(t report.Table, grid [][]string) {
	for i, row := range grid[1:] {
		sign, style := markNone, ""
		if t.Rows[i].Mark != "" {
			sign, style = "▸ ", cyan+";"+bold
		}
		w.wrap(w.style(style, sign), markNone, row[0], style)
		var text []string
		for j, c := range row[1:] {
			text = append(text, grid[0][1+j]+" "+c)
		}
		w.wrap("    ", "    ", strings.Join(text, ", "), "")
	}
}

func cells(t report.Table, details bool) (grid [][]string, left []bool) {
	grid = make([][]string, 1+len(t.Rows))
	for i, c := range t.Columns {
		if c.Short == "" {
			continue
		}
		left = append(left, c.Left)
		wide := 0
		for _, r := range t.Rows {
			wide = max(wide, utf8.RuneCountInString(r.Cells[i].Detail))
		}
		if !details || !c.Detailed {
			wide = 0
		}
		head := c.Short
		if wide > 0 {
			head += strings.Repeat(" ", wide+1) // over the medians, not the intervals
		}
		grid[0] = append(grid[0], head)
		for j, r := range t.Rows {
			text := r.Cells[i].Value
			if wide > 0 {
				text += " " + pad(r.Cells[i].Detail, wide, true)
			}
			grid[1+j] = append(grid[1+j], text)
		}
	}
	return grid, left
}

// bare says that there is nothing beside the rows' names.
func bare(t report.Table) bool {
	return !slices.ContainsFunc(t.Columns[min(1, len(t.Columns)):], func(c report.Column) bool { return c.Short != "" })
}

func widths(grid [][]string) []int {
	out := make([]int, len(grid[0]))
	for _, row := range grid {
		for i, c := range row {
			out[i] = max(out[i], utf8.RuneCountInString(c))
		}
	}
	return out
}

func total(grid [][]string, gap int) int {
	n := 0
	for _, x := range widths(grid) {
		n += x + gap
	}
	return n - gap + len(markNone)
}

// markNone is the room before a row for the sign of a marked one.
const markNone = "  "

func (w *writer) grid(t report.Table, grid [][]string, left []bool, gap int) {
	size := widths(grid)
	for i, row := range grid {
		line := ""
		for j, c := range row {
			if j > 0 {
				line += strings.Repeat(" ", gap)
			}
			line += pad(c, size[j], left[j])
		}
		switch {
		case i == 0:
			w.line(w.style(dim, markNone+strings.TrimRight(line, " ")))
		case t.Rows[i-1].Mark != "":
			w.line(w.style(cyan+";"+bold, "▸ "+strings.TrimRight(line, " ")))
		default:
			w.line(markNone + line)
		}
	}
}

func pad(s string, n int, left bool) string {
	fill := strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
	if left {
		return s + fill
	}
	return fill + s
}

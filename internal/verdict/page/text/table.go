package text

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/verdict/page"
)

// Table lays a table out in w.
func Table(w *terminal.Writer, t page.Table) { (&writer{Writer: w}).table(t) }

// table lays out the columns that have a short heading. When they do not fit, the
// gaps shrink, then the details go, then the table goes on below itself: a figure
// left out silently would be worse.
func (w *writer) table(t page.Table) {
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
	size := terminal.Widths(grid)
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
			w.Gap()
		}
		w.grid(t, part, append([]bool{left[0]}, left[from:to]...), 1)
		from = to
	}
}

// records writes each row as its name and, below, its cells with their headings:
// for names that leave no room beside them.
func (w *writer) records(t page.Table, grid [][]string) {
	for i, row := range grid[1:] {
		sign, style := markNone, ""
		if t.Rows[i].Mark != "" {
			sign, style = "▸ ", terminal.Cyan+";"+terminal.Bold
		}
		w.Wrap(w.Style(style, sign), markNone, row[0], style)
		var text []string
		for j, c := range row[1:] {
			text = append(text, grid[0][1+j]+" "+c)
		}
		w.Wrap("    ", "    ", strings.Join(text, ", "), "")
	}
}

func cells(t page.Table, details bool) (grid [][]string, left []bool) {
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
				text += " " + terminal.Pad(r.Cells[i].Detail, wide, true)
			}
			grid[1+j] = append(grid[1+j], text)
		}
	}
	return grid, left
}

// bare says that there is nothing beside the rows' names.
func bare(t page.Table) bool {
	return !slices.ContainsFunc(t.Columns[min(1, len(t.Columns)):], func(c page.Column) bool { return c.Short != "" })
}

func total(grid [][]string, gap int) int {
	n := 0
	for _, x := range terminal.Widths(grid) {
		n += x + gap
	}
	return n - gap + len(markNone)
}

// markNone is the room before a row for the sign of a marked one.
const markNone = "  "

func (w *writer) grid(t page.Table, grid [][]string, left []bool, gap int) {
	size := terminal.Widths(grid)
	for i, row := range grid {
		line := ""
		for j, c := range row {
			if j > 0 {
				line += strings.Repeat(" ", gap)
			}
			line += terminal.Pad(c, size[j], left[j])
		}
		switch {
		case i == 0:
			w.Line(w.Style(terminal.Dim, markNone+strings.TrimRight(line, " ")))
		case t.Rows[i-1].Mark != "":
			w.Line(w.Style(terminal.Cyan+";"+terminal.Bold, "▸ "+strings.TrimRight(line, " ")))
		default:
			w.Line(markNone + line)
		}
	}
}

// Package table lays a table out for a terminal: it aligns cells, and where the terminal is
// too narrow takes back what the table's columns say can be done without, in their order.
package table

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/show/terminal"
)

// Table is rows of cells, the headings among them as the first.
type Table struct {
	Columns []Column
	Rows    []Row
	Sign    int  // columns before each row, for the sign of a marked one
	Tight   bool // a gap of one column will do where two have no room
	Fold    bool // what still has no room continues below; else lines are longer than the terminal
}

// Column is how a column is laid out.
type Column struct {
	Right bool // numbers
	// Cut shortens a cell to N columns; nil: its end goes.
	Cut func(text string, room int) string
	// Steps are what may become of it where there is no room: of all columns' the step of
	// the highest rank is taken first, and those of one rank together.
	Steps []Step
}

// Step is one of them.
type Step struct {
	Rank int
	To   int // columns to which it may be cut, or one of those below
}

// What else may become of a column.
const (
	Gone  = 0
	Short = -1 // the short form of its cells is there
)

// Row is a line.
type Row struct {
	Sign  string
	Style string // of the whole line; the cells then have none
	Cells []Cell
}

// Cell is a text in a style. Short replaces it where there is little room.
type Cell struct {
	Text  string
	Short string
	Style string
}

// Cells are cells without styles.
func Cells(texts ...string) []Cell {
	return phrase.Each(texts, func(s string) Cell { return Cell{Text: s} })
}

type layout struct {
	gap    int
	widths []int // 0: the column is gone
	short  []bool
}

// Write lays the table out. A width of 0 is endless.
func (t *Table) Write(w *terminal.Writer) {
	l, fits := t.fit(w.Width)
	switch {
	case len(t.Columns) == 0:
	case fits || !t.Fold || len(t.Columns) == 1:
		t.lines(w, l, 1, len(t.Columns))
	case t.Sign+l.widths[0]+1+slices.Max(l.widths[1:]) > w.Width:
		t.records(w, l)
	default:
		t.fold(w, t.uncut(l, w.Width))
	}
}

// uncut gives cells back what was cut from them in vain: what continues below has room.
func (t *Table) uncut(l layout, room int) layout {
	beside := room - t.Sign - l.widths[0] - 1
	for i, wide := range l.widths[1:] {
		for _, r := range t.Rows {
			if wide > 0 {
				wide = max(wide, min(beside, ansi.StringWidth(r.Cells[1+i].text(l.short[1+i]))))
			}
		}
		l.widths[1+i] = wide
	}
	return l
}

// fit takes steps until the table has room, and those back that prove needless.
func (t *Table) fit(room int) (layout, bool) {
	var ranks []int
	for _, c := range t.Columns {
		for _, s := range c.Steps {
			ranks = append(ranks, s.Rank)
		}
	}
	sorting.Stable(ranks, func(a, b int) int { return cmp.Compare(b, a) })
	ranks = slices.Compact(ranks)
	for n := range len(ranks) + 1 {
		l, fits := t.after(ranks[:n], room)
		if !fits {
			continue
		}
		for k := range max(0, n-1) { // the last step may have made room for others
			if less, fits := t.after(append(slices.Clone(ranks[:k]), ranks[n-1]), room); fits {
				return less, true
			}
		}
		return l, true
	}
	return t.after(ranks, room)
}

// after is the layout when the steps of these ranks are taken.
func (t *Table) after(ranks []int, room int) (layout, bool) {
	l := layout{gap: 2, widths: make([]int, len(t.Columns)), short: make([]bool, len(t.Columns))}
	least := make([]int, len(t.Columns))
	gone := make([]bool, len(t.Columns))
	for i, c := range t.Columns {
		for _, s := range c.Steps {
			switch {
			case !slices.Contains(ranks, s.Rank):
			case s.To == Gone:
				gone[i] = true
			case s.To == Short:
				l.short[i] = true
			default:
				least[i] = s.To
			}
		}
		for _, r := range t.Rows {
			if !gone[i] {
				l.widths[i] = max(l.widths[i], ansi.StringWidth(r.Cells[i].text(l.short[i])))
			}
		}
	}
	if room == 0 {
		return l, true
	}
	if t.Tight && t.over(l, room) > 0 {
		l.gap = 1
	}
	for i, n := range least {
		if over := t.over(l, room); n > 0 && over > 0 {
			l.widths[i] = max(min(n, l.widths[i]), l.widths[i]-over)
		}
	}
	return l, t.over(l, room) <= 0
}

// over is by how many columns the layout is too wide.
func (t *Table) over(l layout, room int) int {
	n := t.Sign - l.gap - room
	for _, w := range l.widths {
		if w > 0 {
			n += w + l.gap
		}
	}
	return n
}

func (c Cell) text(short bool) string {
	if short && c.Short != "" {
		return c.Short
	}
	return c.Text
}

func (t *Table) lines(w *terminal.Writer, l layout, from, to int) {
	for _, r := range t.Rows {
		var b strings.Builder
		for i, c := range r.Cells {
			if l.widths[i] == 0 || i > 0 && (i < from || i >= to) {
				continue
			}
			if b.Len() > 0 {
				b.WriteString(strings.Repeat(" ", l.gap))
			}
			text := c.text(l.short[i])
			if cut := t.Columns[i].Cut; cut != nil {
				text = cut(text, l.widths[i])
			}
			text = ansi.Truncate(text, l.widths[i], "…")
			pad := strings.Repeat(" ", l.widths[i]-ansi.StringWidth(text))
			if c.Style != "" {
				text = w.Style(c.Style, text)
			}
			if t.Columns[i].Right {
				text = pad + text
			} else {
				text += pad
			}
			b.WriteString(text)
		}
		w.Line(w.Style(r.Style, sign(r, t.Sign)+strings.TrimRight(b.String(), " ")))
	}
}

func sign(r Row, wide int) string { return terminal.Pad(r.Sign, wide, true) }

// fold writes as many columns at a time as there is room for, each time after the first
// column: a number skipped silently would be worse.
func (t *Table) fold(w *terminal.Writer, l layout) {
	for from := 1; from < len(t.Columns); {
		to := from + 1
		for wide := t.Sign + l.widths[0] + 1 + l.widths[from]; to < len(t.Columns) && wide+1+l.widths[to] <= w.Width; to++ {
			wide += 1 + l.widths[to]
		}
		if from > 1 {
			w.Gap()
		}
		t.lines(w, l, from, to)
		from = to
	}
}

// records writes each row as its name and, below, its cells with their headings: for
// names that leave no room next to them.
func (t *Table) records(w *terminal.Writer, l layout) {
	pad := strings.Repeat(" ", t.Sign)
	for _, r := range t.Rows[1:] {
		w.Wrap(w.Style(r.Style, sign(r, t.Sign)), pad, r.Cells[0].text(l.short[0]), r.Style)
		var text []string
		for i, c := range r.Cells[1:] {
			text = append(text, t.Rows[0].Cells[1+i].text(l.short[1+i])+" "+c.text(l.short[1+i]))
		}
		w.Wrap("    ", "    ", strings.TrimSpace(strings.Join(text, ", ")), "")
	}
}

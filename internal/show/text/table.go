package text

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/table"
	"github.com/procfit/procfit/internal/show/terminal"
)

// table has the columns with a short heading. When they do not fit, the gaps shrink, then
// the details go, then the table continues below itself.
func (w *writer) table(t document.Table) {
	out := table.Table{Rows: make([]table.Row, 1+len(t.Rows)), Sign: 2, Tight: true, Fold: true}
	out.Rows[0].Style = terminal.Dim
	for j, r := range t.Rows {
		if r.Mark != "" {
			out.Rows[1+j].Sign, out.Rows[1+j].Style = "▸", terminal.Cyan+";"+terminal.Bold
		}
	}
	var of []int
	for i, c := range t.Columns {
		if c.Short == "" {
			continue
		}
		of = append(of, i)
		wide := 0 // of the details
		if c.Detailed {
			wide = widest(phrase.Each(t.Rows, func(r document.Row) string { return r.Cells[i].Detail }))
		}
		column, head := table.Column{Right: !c.Left}, table.Cell{Text: c.Short}
		if c.Least > 0 {
			column.Cut, column.Steps = whole, []table.Step{{Rank: 2, To: c.Least}}
		}
		if wide > 0 {
			column.Steps = []table.Step{{Rank: 1, To: table.Short}}
			head = table.Cell{Text: c.Short + strings.Repeat(" ", wide+1), Short: c.Short} // over the medians, not the intervals
		}
		out.Columns = append(out.Columns, column)
		out.Rows[0].Cells = append(out.Rows[0].Cells, head)
		for j, r := range t.Rows {
			cell := table.Cell{Text: r.Cells[i].Value}
			if wide > 0 {
				cell = table.Cell{Text: r.Cells[i].Value + " " + terminal.Pad(r.Cells[i].Detail, wide, true), Short: r.Cells[i].Value}
			}
			out.Rows[1+j].Cells = append(out.Rows[1+j].Cells, cell)
		}
	}
	w.bars(t, &out, of)
	if len(out.Columns) > 1 { // else there is nothing next to the rows' names
		out.Write(w.Writer)
	}
}

// whole drops what has no room from the end of a list, and no part of an item.
func whole(list string, room int) string {
	for utf8.RuneCountInString(list) > room {
		i := strings.LastIndex(strings.TrimSuffix(list, ",…"), ", ")
		if i < 0 {
			break
		}
		list = list[:i] + ",…"
	}
	return phrase.Clip(list, room)
}

// bars puts bars before the cells of the columns that have them, in the room that the
// table leaves; where that is little, only in the first of these columns, or in none.
// of is which column of the document each one is.
func (w *writer) bars(t document.Table, out *table.Table, of []int) {
	const gap, least, alone = 2, 8, 3
	values := make([]int, len(of))
	var with []int
	for i := range of {
		for _, r := range out.Rows[1:] {
			values[i] = max(values[i], utf8.RuneCountInString(r.Cells[i].Text))
		}
		if t.Columns[of[i]].Bars {
			with = append(with, i)
		}
	}
	for ; len(with) > 0; with = with[:len(with)-1] {
		room := w.Width - out.Sign
		for i, c := range out.Rows[0].Cells {
			if slices.Contains(with, i) {
				room -= values[i] + gap // the heading is over the bar too
			} else {
				room -= max(values[i], utf8.RuneCountInString(c.Text))
			}
		}
		wide := (room - gap*(len(of)-1)) / len(with)
		if wide < least && (len(with) > 1 || wide < alone) {
			continue
		}
		for _, i := range with {
			for j, r := range t.Rows {
				c := &out.Rows[1+j].Cells[i]
				c.Text = w.bar(r.Cells[of[i]].Bar, wide) + strings.Repeat(" ", gap) + terminal.Pad(c.Text, values[i], false)
			}
		}
		return
	}
}

// bar is filled up to a fraction, in halves of a column; what is not nothing shows.
func (w *writer) bar(at float64, wide int) string {
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

// prose is sentences: of each row the answer, what it answers, and below that the other cells.
func (w *writer) prose(t document.Table) {
	wide := widest(phrase.Each(t.Rows, func(r document.Row) string { return r.Cells[0].Value }))
	further := strings.Repeat(" ", wide+6)
	for _, r := range t.Rows {
		sign := map[document.Tone]string{document.OK: "✓", document.Attention: "✗"}[r.Tone]
		w.Paragraph("  "+w.Style(toneColor(r.Tone), cmp.Or(sign, "?")+" "+terminal.Pad(r.Cells[0].Value, wide, true))+"  ", further, r.Cells[1].Value)
		var parts []string
		for i, c := range r.Cells[2:] {
			if c.Value != "" {
				parts = append(parts, t.Columns[2+i].Short+" "+c.Value)
			}
			if c.Detail != "" {
				parts = append(parts, c.Detail)
			}
		}
		for _, line := range []string{strings.Join(parts, "; "), r.Cells[1].Detail} {
			if line != "" {
				w.Wrap(further, further, line, terminal.Dim)
			}
		}
	}
}

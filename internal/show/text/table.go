package text

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/table"
	"github.com/procfit/procfit/internal/show/terminal"
)

// table has the columns with a short heading. When they do not fit, the gaps shrink, then
// the details go, then the table goes on below itself.
func (w *writer) table(t document.Table) {
	out := table.Table{Rows: make([]table.Row, 1+len(t.Rows)), Sign: 2, Tight: true, Fold: true}
	out.Rows[0].Style = terminal.Dim
	for j, r := range t.Rows {
		if r.Mark != "" {
			out.Rows[1+j].Sign, out.Rows[1+j].Style = "▸", terminal.Cyan+";"+terminal.Bold
		}
	}
	for i, c := range t.Columns {
		if c.Short == "" {
			continue
		}
		wide := 0 // of the details
		for _, r := range t.Rows {
			if c.Detailed {
				wide = max(wide, utf8.RuneCountInString(r.Cells[i].Detail))
			}
		}
		column, head := table.Column{Right: !c.Left}, table.Cell{Text: c.Short}
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
	if len(out.Columns) > 1 { // else there is nothing beside the rows' names
		out.Write(w.Writer)
	}
}

// prose is a table of sentences: of each row the answer, what it answers, and below that
// the other cells under their headings.
func (w *writer) prose(t document.Table) {
	wide := 0
	for _, r := range t.Rows {
		wide = max(wide, utf8.RuneCountInString(r.Cells[0].Value))
	}
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

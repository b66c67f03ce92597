package watch

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/table"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/rule"
)

// tableLines are the lines of the table page, without the footer.
func (m *model) tableLines() []string {
	lines := []string{m.titleLine()}
	if m.height >= summaryHeight {
		lines = append(lines, m.summary())
	}
	if p := m.problems(); p != "" && (m.height >= summaryHeight || m.failed != nil) {
		lines = append(lines, p)
	}
	advice := 0
	switch {
	case m.height >= longAdviceHeight:
		advice = 3
	case m.height >= adviceHeight:
		advice = 2
	}
	lines = append(lines, m.tablePart(m.height-len(lines)-advice-1)...)
	if advice > 0 {
		for len(lines) < m.height-advice-1 {
			lines = append(lines, "")
		}
		lines = append(lines, m.advice(advice)...)
	}
	return lines
}

// newTable makes the table of the library, which keeps the heading above the rows and the
// selected row on the screen. A row is one of its cells and is drawn here, since the cells
// of the library have one style and one alignment.
func newTable() table.Model { return table.New(table.WithStyles(table.Styles{})) }

// tablePart is the heading and rows, height lines in total.
func (m *model) tablePart(height int) []string {
	shown := m.columnsShown()
	widths := m.columnWidths(shown)
	line := func(mark string, cell func(c int) string) string {
		for i, c := range shown {
			if i > 0 {
				mark += m.gap()
			}
			mark += cell(c)
		}
		return mark
	}
	pad := func(text string, c int) string { return m.pad(text, widths[c], columns[c].Right()) }
	heads := m.paint(heading, m.pad(line(" ", func(c int) string { return pad(m.heading(c), c) }), m.width, false))
	if len(m.list.shown) == 0 {
		return []string{heads, "", m.paint(faint, m.none())}[:min(3, height)]
	}
	t := &m.list.table
	t.SetColumns([]table.Column{{Title: heads, Width: m.width}})
	t.SetWidth(m.width)
	t.SetHeight(height)
	m.list.move(0)
	rows, at := make([]table.Row, len(m.list.shown)), t.Cursor()
	for i := max(0, at-height); i < min(len(rows), at+height); i++ { // no others are drawn
		r := m.list.shown[i]
		if i == at {
			rows[i] = table.Row{m.paint(selected, m.pad(line(m.pointer(), func(c int) string { return pad(r.cells[c], c) }), m.width, false))}
		} else {
			rows[i] = table.Row{line(" ", func(c int) string { return m.paint(m.styleOf(r, c), pad(r.cells[c], c)) })}
		}
	}
	t.SetRows(rows)
	drawn := strings.Split(t.View(), "\n")
	t.SetRows(make([]table.Row, len(rows))) // it draws its rows again at every change
	return drawn
}

// none is the text of a list without rows.
func (m *model) none() string {
	switch {
	case !m.seen:
		return ""
	case len(m.list.rows) > 0:
		return "  no process matches /" + m.clean(m.list.filter.text)
	}
	return "  no Go process"
}

// advice is the first finding of the selected process, and its fix, in height lines.
func (m *model) advice(height int) []string {
	id, ok := m.list.selected()
	if !ok {
		return make([]string, height)
	}
	r := m.list.rows[id]
	findings := r.process.Findings
	what, then := "uses a good value for its CPUs", ""
	switch {
	case len(findings) > 0:
		what, then = findings[0].Rule+" "+findings[0].Message, m.fix()+findings[0].Fix
	case r.process.LiveUnknown != "":
		what, then = "its value could not be read", r.process.LiveUnknown
	case !inspect.Recommend(r.process.Subject).Judged():
		what, then = "cannot be judged", strings.Join(r.process.Facts.Unknown(), "; ")
	}
	width, right := m.width-1, ""
	if n := len(findings) - 1; n > 0 {
		right = m.paint(faint, fmt.Sprintf("%d more: Enter", n))
		width -= cells(right) + 1
	}
	// The fix gets more room than the finding, which the table also shows.
	do := m.cut(m.wrap("  "+m.clean(then), m.width-1, 2), height-1)
	name := m.clip(r.name, goodName)
	lines := m.cut(m.wrap(name+" "+m.clean(what), width, 2), height-len(do))
	lines[0] = m.sides(m.paint(bold, name)+m.paint(m.severity(rule.Worst(findings)), strings.TrimPrefix(lines[0], name)), right, m.width)
	lines = append(lines, do...)
	return append(make([]string, height-len(lines)), lines...)
}

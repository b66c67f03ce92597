package watch

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/program/rule"
)

// tableLines are those of the table page but the footer.
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
	shown := m.columnsShown()
	widths := m.columnWidths(shown)
	lines = append(lines, m.headings(shown, widths))
	lines = append(lines, m.rowLines(shown, widths, m.height-len(lines)-advice-1)...)
	if advice > 0 {
		for len(lines) < m.height-advice-1 {
			lines = append(lines, "")
		}
		lines = append(lines, m.advice(advice)...)
	}
	return lines
}

// rowLines are so many rows around the selected one.
func (m *model) rowLines(shown, widths []int, height int) []string {
	rows := m.list.shown
	if len(rows) == 0 {
		text := "  no Go process"
		switch {
		case !m.seen:
			text = ""
		case len(m.list.rows) > 0:
			text = "  no process matches /" + m.clean(m.list.filter.text)
		}
		return []string{"", m.paint(faint, text)}[:max(0, min(2, height))]
	}
	m.top = max(0, min(m.top, m.list.cursor, len(rows)-height))
	if m.list.cursor >= m.top+height {
		m.top = m.list.cursor - height + 1
	}
	var lines []string
	for i := m.top; i < len(rows) && len(lines) < height; i++ {
		lines = append(lines, m.rowLine(rows[i], i == m.list.cursor, shown, widths))
	}
	return lines
}

func (m *model) rowLine(r *row, at bool, shown, widths []int) string {
	mark := " "
	if at {
		mark = m.pointer()
	}
	var b strings.Builder
	b.WriteString(mark)
	for i, c := range shown {
		if i > 0 {
			b.WriteString(m.gap())
		}
		cell := m.pad(r.cells[c], widths[i], columns[c].right)
		if !at {
			cell = m.paint(m.styleOf(r, c), cell)
		}
		b.WriteString(cell)
	}
	if at {
		return m.paint(selected, m.pad(b.String(), m.width, false))
	}
	return b.String()
}

// styleOf tells what a cell is worth: what is gone, or is not of the interval but
// of a whole life, is pale.
func (m *model) styleOf(r *row, c int) style {
	switch column := columns[c]; {
	case r.gone > 0:
		return faint
	case column.name == "findings" && len(r.process.Findings) == 0:
		return faint
	case column.name == "findings":
		return m.severity(rule.Worst(r.process.Findings))
	case column.name == "name":
		return bold
	case column.counted && r.process.Recent == nil:
		return faint
	}
	return ""
}

// headings are the titles, the one that is sorted by with an arrow.
func (m *model) headings(shown, widths []int) string {
	var b strings.Builder
	b.WriteByte(' ')
	for i, c := range shown {
		if i > 0 {
			b.WriteString(m.gap())
		}
		b.WriteString(m.pad(m.title(c), widths[i], columns[c].right))
	}
	return m.paint(heading, m.pad(b.String(), m.width, false))
}

func (m *model) title(c int) string {
	title := columns[c].title
	if columns[c].short != "" && m.width < 100 {
		title = columns[c].short
	}
	if c != m.list.sort {
		return title
	}
	if (columns[c].rising || columns[c].text != nil) != m.list.reverse {
		return title + m.up()
	}
	return title + m.down()
}

// advice is the first finding of the selected process, and what to do, in so many
// lines.
func (m *model) advice(height int) []string {
	id, ok := m.list.selected()
	if !ok {
		return make([]string, height)
	}
	r := m.list.rows[id]
	findings := r.process.Findings
	what, then := "has what suits its CPUs", ""
	switch {
	case len(findings) > 0:
		what, then = findings[0].Rule+" "+findings[0].Message, m.fix()+findings[0].Fix
	case r.process.LiveUnknown != "":
		what, then = "its value was not read", r.process.LiveUnknown
	case !r.judged():
		what, then = "cannot be judged", strings.Join(r.process.Facts.Unknown(), "; ")
	}
	width, right := m.width-1, ""
	if n := len(findings) - 1; n > 0 {
		right = m.paint(faint, fmt.Sprintf("%d more: Enter", n))
		width -= cells(right) + 1
	}
	// What to do is worth more room than what is so, which the table begins to say.
	do := m.cut(m.wrap("  "+m.clean(then), m.width-1, 2), height-1)
	name := m.clip(r.name, goodName)
	lines := m.cut(m.wrap(name+" "+m.clean(what), width, 2), height-len(do))
	lines[0] = m.sides(m.paint(bold, name)+m.paint(m.severity(rule.Worst(findings)), strings.TrimPrefix(lines[0], name)), right, m.width)
	lines = append(lines, do...)
	return append(make([]string, height-len(lines)), lines...)
}

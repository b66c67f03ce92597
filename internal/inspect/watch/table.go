package watch

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
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
	heads := m.bar(line(" ", func(c int) string { return pad(m.heading(c), c) }))
	if len(m.list.shown) == 0 {
		return []string{heads, "", m.paint(faint, m.none())}[:min(3, height)]
	}
	w := &m.list.window
	w.height = height - 1
	m.list.move(0)
	drawn := []string{heads}
	for i := w.top; i < w.end(); i++ {
		r := m.list.shown[i]
		if i == m.list.cursor {
			drawn = append(drawn, m.paint(selected, m.pad(line(m.pointer(), func(c int) string { return pad(r.cells[c], c) }), m.width, false)))
		} else {
			drawn = append(drawn, line(" ", func(c int) string { return m.paint(m.styleOf(r, c), pad(r.cells[c], c)) }))
		}
	}
	return drawn
}

func (m *model) none() string {
	switch {
	case !m.seen:
		return ""
	case len(m.list.rows) > 0:
		return "  no process matches /" + m.clean(string(m.list.filter))
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
		what, then = findings[0].Rule+" "+findings[0].Message, m.fix()+strings.Join(inspect.Remedies(findings[:1]), "; then ")
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

var (
	columns        = inspect.Columns()
	nameColumn     = inspect.Index(inspect.Name)
	findingsColumn = inspect.Index(inspect.Findings)
)

// fill formats the cells again. The name and the findings take the width that the other
// columns leave.
func (r *row) fill(l look) {
	r.cells = r.cells[:0]
	for _, c := range columns {
		text := ""
		switch c.Name {
		case inspect.Name:
			text = r.name
		case inspect.Findings:
			text = r.verdict(l)
		default:
			text = l.text(c.Text(&r.process))
		}
		r.cells = append(r.cells, text)
	}
}

func (l look) span(seconds float64) string { return l.text(number.Seconds(seconds)) }

// longCell is more than any terminal shows of a cell.
const longCell = 500

func (r *row) verdict(l look) string {
	switch f := r.process.Findings; {
	case r.gone > 0:
		return "ended"
	case len(f) > 0:
		m := f[0].Message
		return l.clean(fmt.Sprintf("%s %s %s", strings.ToUpper(string(f[0].Severity[:1])), f[0].Rule, m[:min(len(m), longCell)]))
	case inspect.Recommend(r.process.Subject).Judged():
		return "ok"
	}
	return "not known"
}

// styleOf is the style of a cell. Processes that have ended, and values over a whole life
// instead of the interval, are faint.
func (m *model) styleOf(r *row, c int) style {
	switch {
	case r.gone > 0:
		return faint
	case c == findingsColumn && len(r.process.Findings) == 0:
		return faint
	case c == findingsColumn:
		return m.severity(rule.Worst(r.process.Findings))
	case c == nameColumn:
		return bold
	case columns[c].Counted && r.process.Recent == nil:
		return faint
	}
	return ""
}

// heading is the heading of a column, with an arrow if the table is sorted by it.
func (m *model) heading(c int) string {
	text := columns[c].Heading()
	switch {
	case c != m.list.sort:
	case columns[c].Rising != m.list.reverse:
		text += m.up()
	default:
		text += m.down()
	}
	return text
}

// The minimum width of names and findings, and their width before extra columns are shown.
const (
	leastName, leastFindings = 9, 8
	goodName, goodFindings   = 24, 44
)

// The rank from which a column is dropped before names are shortened, and the rank from
// which it is an extra column: it is shown only if the findings stay readable.
const (
	dispensable = 3
	extra       = 11
)

func (m *model) gap() string { return phrase.If(m.width >= 110, "  ", " ") }

// fairName is the width that names get before dispensable columns: more on a wider
// terminal, but not more than they need.
func (m *model) fairName() int {
	return max(leastName, min(goodName, leastName+max(0, m.width-68)/3, m.list.widths[nameColumn]))
}

// columnsShown are the columns for which there is room: extra columns only if names and
// findings stay readable, and of the others as many as possible.
func (m *model) columnsShown() []int {
	fit := func(name, findings, most, least int) ([]int, bool) {
		widths := make([]int, len(columns))
		for c := range columns {
			if !m.list.empty(c) {
				widths[c] = m.fixed(c) + len(m.gap())
			}
		}
		widths[nameColumn], widths[findingsColumn] = name+len(m.gap()), findings+len(m.gap())
		return columnsIn(widths, m.width-1+len(m.gap()), most, least)
	}
	shown, fits := fit(goodName, goodFindings, len(columns), extra-1)
	if !fits {
		shown, fits = fit(m.fairName(), leastFindings, extra-1, dispensable-1)
	}
	if !fits {
		shown, _ = fit(leastName, leastFindings, dispensable-1, 0)
	}
	return shown
}

// columnsIn are the indices of the columns up to the rank most for which there is room.
// A column's width includes the gap after it; one without a width is not shown. The highest ranks are dropped first, and
// ranks up to least never. fits is false if what is left is still too wide.
func columnsIn(widths []int, width, most, least int) (shown []int, fits bool) {
	for ; ; most-- {
		shown, used := shown[:0], 0
		for i, c := range columns {
			if c.Rank <= most && widths[i] > 0 {
				shown = append(shown, i)
				used += widths[i]
			}
		}
		if fits := used <= width; fits || most <= least {
			return shown, fits
		}
	}
}

// fixed is the width of a column that does not stretch.
func (m *model) fixed(c int) int { return max(m.list.widths[c], cells(m.heading(c))) }

// columnWidths divides the remaining width between the name and the findings.
func (m *model) columnWidths(shown []int) []int {
	widths := make([]int, len(columns))
	left := m.width - 1 - len(m.gap())*(len(shown)-1)
	for _, c := range shown {
		if c != nameColumn && c != findingsColumn {
			widths[c] = m.fixed(c)
			left -= widths[c]
		}
	}
	if shown[len(shown)-1] != findingsColumn {
		widths[nameColumn] = max(1, left)
		return widths
	}
	widths[nameColumn] = min(m.fixed(nameColumn), max(m.fairName(), min(left*9/20, goodName+left/8)), max(1, left-leastFindings))
	widths[findingsColumn] = max(1, left-widths[nameColumn])
	return widths
}

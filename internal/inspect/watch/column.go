package watch

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
)

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

// span formats a time in seconds.
func (l look) span(seconds float64) string { return l.text(number.Seconds(seconds)) }

// longCell is more than any terminal shows of a cell.
const longCell = 500

// verdict is the first and worst finding, in short.
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

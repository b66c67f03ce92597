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

// fill writes the cells again. Here the name and the findings take what the other
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

// span is a time, given in seconds.
func (l look) span(seconds float64) string { return l.text(number.Seconds(seconds)) }

// longCell is more than any terminal shows of one.
const longCell = 500

// verdict is the first finding, the worst, in short.
func (r *row) verdict(l look) string {
	switch f := r.process.Findings; {
	case r.gone > 0:
		return "ended"
	case len(f) > 0:
		m := f[0].Message
		return l.clean(fmt.Sprintf("%s %s %s", strings.ToUpper(string(f[0].Severity[:1])), f[0].Rule, m[:min(len(m), longCell)]))
	case inspect.FitOf(r.process.Subject).Judged():
		return "fits"
	}
	return "cannot tell"
}

// styleOf tells what a cell is worth: what is gone, or is not of the interval but
// of a whole life, is pale.
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

// heading is a column's, with an arrow where the table is sorted by it.
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

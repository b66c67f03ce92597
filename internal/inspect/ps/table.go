// Package ps says of many processes what each Go program really runs with: a table
// with the findings below it, procfit.ps/v1, and the notes on what could not be
// read. It reads nothing: an observe.Snapshot comes in.
package ps

import (
	"fmt"
	"io"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/table"
	"github.com/procfit/procfit/internal/show/terminal"
)

// WriteText prints the list, then what to do. On a width above 0 columns are left
// out and lines folded until they fit.
func WriteText(w io.Writer, snap observe.Snapshot, color bool, width int) error {
	if len(snap.Processes) == 0 {
		text := "no Go process"
		if n := snap.Others + len(snap.Unreadable); n > 0 {
			text += "; " + phrase.Count(n, "other")
		}
		_, err := fmt.Fprintln(w, text)
		return err
	}
	b := &terminal.Writer{Width: width, Color: color}
	list(snap.Processes).Write(b)
	advise(b, snap.Processes)
	_, err := w.Write(b.Bytes())
	return err
}

func list(all []observe.Process) *table.Table {
	t := &table.Table{Rows: make([]table.Row, 1+len(all))}
	t.Rows[0].Style = terminal.Bold
	for _, c := range inspect.Columns() {
		t.Columns = append(t.Columns, table.Column{Right: c.Right(), Steps: steps(c)})
		t.Rows[0].Cells = append(t.Rows[0].Cells, table.Cell{Text: c.Heading()})
		for i := range all {
			cell := table.Cell{Text: c.Text(&all[i]), Short: c.Short(&all[i])}
			if c.Name == inspect.Findings {
				cell.Style = grade(rule.Worst(all[i].Findings))
			}
			t.Rows[1+i].Cells = append(t.Rows[1+i].Cells, cell)
		}
	}
	return t
}

// needed is the highest rank of the columns that go only after cells were cut: those of
// names and findings first, then what a fit follows from.
const needed = 3

func steps(c inspect.Column) (list []table.Step) {
	switch {
	case c.Rank > needed:
		list = append(list, table.Step{Rank: c.Rank + 2, To: table.Gone})
	case c.Rank > 0:
		list = append(list, table.Step{Rank: c.Rank, To: table.Gone})
	}
	switch c.Name {
	case inspect.Name, inspect.Findings:
		list = append(list, table.Step{Rank: needed + 2, To: table.Short})
	case "fit":
		list = append(list, table.Step{Rank: needed + 1, To: table.Short})
	}
	return list
}

func grade(s rule.Severity) string { return terminal.Grade(s.Rank()) }

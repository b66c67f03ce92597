// Package ps shows which GOMAXPROCS each running Go program really uses: as a table with
// the findings below it, as procfit.ps/v1, and with notes on what could not be read. It
// reads nothing itself: its input is an observe.Snapshot.
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

// WriteText prints the list, and then what to do. With a width above 0, it drops columns
// and folds lines until they fit.
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

// needed is the highest rank of the columns that are dropped only after cells were
// shortened: those of names and findings first, then the reason of a recommendation.
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
	case inspect.Recommended:
		list = append(list, table.Step{Rank: needed + 1, To: table.Short})
	}
	return list
}

func grade(s rule.Severity) string { return terminal.Grade(s.Rank()) }

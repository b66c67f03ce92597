package ps

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
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
	table(b, snap.Processes)
	advise(b, snap.Processes)
	_, err := w.Write(b.Bytes())
	return err
}

// shortened are the columns whose cells are cut, first none, where the others have gone.
var shortened = [][]string{nil, {inspect.Name, inspect.Findings}, {inspect.Name, inspect.Findings, "fit"}}

// needed is the highest rank of the columns that go only after cells were cut.
const needed = 3

const gap = "  "

// layOut fits the list into a width, 0 being endless: the columns, their widths,
// each with the gap after it, and the cells of each process.
func layOut(all []observe.Process, width int) (columns []inspect.Column, widths []int, cells [][]string) {
	if width > 0 {
		width += len(gap) // the last column's is not drawn
	}
	for i, short := range shortened {
		columns, widths, cells = inspect.Columns(), nil, make([][]string, len(all))
		for _, c := range columns {
			most := ansi.StringWidth(c.Heading())
			for r := range all {
				text := c.Text(&all[r])
				if slices.Contains(short, c.Name) {
					text = c.Short(&all[r])
				}
				cells[r] = append(cells[r], text)
				most = max(most, ansi.StringWidth(text))
			}
			widths = append(widths, most+len(gap))
		}
		least := needed
		if i == len(shortened)-1 {
			least = 0
		}
		shown, fits := inspect.Room(widths, width, len(columns), least)
		if fits || least == 0 {
			columns, widths = pick(columns, shown), pick(widths, shown)
			for r := range cells {
				cells[r] = pick(cells[r], shown)
			}
			break
		}
	}
	return columns, widths, cells
}

func pick[T any](all []T, shown []int) (some []T) {
	for _, i := range shown {
		some = append(some, all[i])
	}
	return some
}

func table(b *terminal.Writer, all []observe.Process) {
	columns, widths, cells := layOut(all, b.Width)
	var heads []string
	for _, c := range columns {
		heads = append(heads, c.Heading())
	}
	for r, row := range append([][]string{heads}, cells...) {
		var line strings.Builder
		for i, c := range columns {
			text, pad := row[i], strings.Repeat(" ", widths[i]-len(gap)-ansi.StringWidth(row[i]))
			if r > 0 && c.Name == inspect.Findings {
				text = b.Style(grade(rule.Worst(all[r-1].Findings)), text)
			}
			if c.Right() {
				text, pad = pad+text, ""
			}
			line.WriteString(text + pad + gap)
		}
		text := strings.TrimRight(line.String(), " ")
		if r == 0 {
			text = b.Style(terminal.Bold, text)
		}
		b.WriteString(text + "\n")
	}
}

func grade(s rule.Severity) string { return terminal.Grade(s.Rank()) }

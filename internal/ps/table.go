package ps

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/observe"
	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/rule"
	"github.com/procfit/procfit/internal/terminal"
)

// column is a column of the list.
type column struct {
	head  string
	right bool
	drop  int // on a narrow terminal the highest goes first; 0 stays
	cell  func(observe.Process) string
}

const unknownCell = "-"

func columns() []column {
	return []column{
		{"PID", true, 0, func(p observe.Process) string { return strconv.Itoa(p.PID) }},
		{"NAME", false, 0, func(p observe.Process) string { return clip(phrase.Clean(p.Name), 24) }},
		{"GO", false, 1, func(p observe.Process) string { return goRelease(p) }},
		{"PROCS", true, 0, procsCell},
		{"READ", false, 5, func(p observe.Process) string { return orUnknown(p.ProcsSource()) }},
		{"SET BY", false, 2, setByCell},
		{"CPUS", true, 6, func(p observe.Process) string { return number(float64(p.NumCPU), p.NumCPU > 0) }},
		{"LIMIT", false, 1, limitCell},
		{"P50", true, 8, func(p observe.Process) string { return latencyCell(p, 0.5) }},
		{"P99", true, 4, func(p observe.Process) string { return latencyCell(p, 0.99) }},
		{"WAIT", true, 7, waitCell},
		{"THROTTLED", true, 3, throttledCell},
		{"SWITCHES", true, 9, func(p observe.Process) string { return number(p.Last().Switches()) }},
		{"THREADS", true, 10, func(p observe.Process) string { return strconv.Itoa(p.Threads) }},
		{"FINDINGS", false, 0, func(p observe.Process) string { return strings.Join(rule.IDs(p.Findings), " ") }},
	}
}

// WriteText prints the list, then what to do. On a width above 0 columns are left
// out and lines folded until they fit.
func WriteText(w io.Writer, snap observe.Snapshot, color bool, width int) error {
	if len(snap.Processes) == 0 {
		_, err := fmt.Fprintf(w, "no Go process; %s\n", phrase.Count(snap.Others+len(snap.Unreadable), "other"))
		return err
	}
	b := &terminal.Writer{Width: width, Color: color}
	table(b, snap.Processes)
	advise(b, snap.Processes)
	_, err := w.Write(b.Bytes())
	return err
}

func table(b *terminal.Writer, all []observe.Process) {
	columns := columns()
	cells := make([][]string, len(all)+1)
	for _, c := range columns {
		cells[0] = append(cells[0], c.head)
	}
	for i, p := range all {
		for _, c := range columns {
			cells[i+1] = append(cells[i+1], c.cell(p))
		}
	}
	widths := make([]int, len(columns))
	for _, row := range cells {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	shown := fit(columns, widths, b.Width)
	for r, row := range cells {
		var line strings.Builder
		for i, c := range columns {
			if !shown[i] {
				continue
			}
			if line.Len() > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-ansi.StringWidth(row[i]))
			text := row[i]
			if r > 0 && c.head == "FINDINGS" && len(all[r-1].Findings) > 0 {
				text = b.Style(grade(rule.Worst(all[r-1].Findings)), text)
			}
			if c.right {
				line.WriteString(pad + text)
			} else {
				line.WriteString(text + pad)
			}
		}
		text := strings.TrimRight(line.String(), " ")
		if r == 0 {
			text = b.Style(terminal.Bold, text)
		}
		b.WriteString(text + "\n")
	}
}

// fit drops columns until the rest fits the width; 0 is endless.
func fit(columns []column, widths []int, width int) []bool {
	shown := make([]bool, len(columns))
	total := -2
	for i := range columns {
		shown[i] = true
		total += widths[i] + 2
	}
	for width > 0 && total > width {
		first := -1
		for i, c := range columns {
			if shown[i] && c.drop > 0 && (first < 0 || c.drop > columns[first].drop) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		shown[first] = false
		total -= widths[first] + 2
	}
	return shown
}

func grade(s rule.Severity) string { return terminal.Grade(s.Rank()) }

package ps

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
)

// column is a column of the list.
type column struct {
	head  string
	right bool
	drop  int // on a narrow terminal the highest goes first; 0 stays
	cell  func(observe.Process) string
	short func(observe.Process) string // where no more columns can go; nil: as it is
	last  bool                         // it is shortened after the others
}

const unknownCell = "-"

// The most that names take, and where there is no room.
const (
	longName  = 24
	shortName = 12
)

func columns() []column {
	return []column{
		{head: "PID", right: true, cell: func(p observe.Process) string { return strconv.Itoa(p.PID) }},
		{head: "NAME", cell: nameCell(longName), short: nameCell(shortName)},
		{head: "GO", drop: 5, cell: goRelease},
		{head: "PROCS", right: true, cell: procsCell},
		{head: "FIT", cell: Fit, short: shortFit, last: true},
		{head: "CPU USE", right: true, drop: 2, cell: func(p observe.Process) string { return hundredths(p.Last().CPUs()) }},
		{head: "SET BY", drop: 3, cell: setByCell},
		{head: "READ", drop: 10, cell: func(p observe.Process) string { return orUnknown(p.ProcsSource()) }},
		{head: "NUMCPU", right: true, drop: 12, cell: func(p observe.Process) string { return numCPUCell(p) }},
		{head: "LIMIT", drop: 8, cell: limitCell},
		{head: "SCHED P50", right: true, drop: 9, cell: func(p observe.Process) string { return latencyCell(p, 0.5) }},
		{head: "SCHED P99", right: true, drop: 4, cell: func(p observe.Process) string { return latencyCell(p, 0.99) }},
		{head: "WAITING", right: true, drop: 6, cell: func(p observe.Process) string { return hundredths(p.Last().Waiting()) }},
		{head: "THROTTLED", right: true, drop: 1, cell: throttledCell},
		{head: "SWITCHES", right: true, drop: 11, cell: func(p observe.Process) string { return rateCell(p.Last().Switches()) }},
		{head: "THREADS", right: true, drop: 7, cell: func(p observe.Process) string { return strconv.Itoa(p.Threads) }},
		{head: findingsHead, cell: findingsCell, short: shortFindings},
	}
}

const findingsHead = "FINDINGS"

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

// grid is the list as text, its heads first.
type grid struct {
	columns []column
	cells   [][]string
	widths  []int
	shown   []bool
}

// layOut fits the list into a width; 0 is endless. Columns go first, then what
// long cells hold.
func layOut(all []observe.Process, width int) grid {
	columns := columns()
	g := measured(columns, all)
	for _, last := range []bool{false, true} {
		if g.drop(width) {
			return g
		}
		for i, c := range columns {
			if c.short != nil && c.last == last {
				columns[i].cell = c.short
			}
		}
		g = measured(columns, all)
	}
	g.drop(width)
	return g
}

func measured(columns []column, all []observe.Process) grid {
	g := grid{columns: columns, cells: make([][]string, len(all)+1), widths: make([]int, len(columns)), shown: make([]bool, len(columns))}
	for i, c := range columns {
		g.shown[i] = true
		g.cells[0] = append(g.cells[0], c.head)
		for r, p := range all {
			g.cells[r+1] = append(g.cells[r+1], c.cell(p))
		}
	}
	for _, row := range g.cells {
		for i, cell := range row {
			g.widths[i] = max(g.widths[i], ansi.StringWidth(cell))
		}
	}
	return g
}

// drop leaves columns out until the rest fits; false when it does not even then.
func (g *grid) drop(width int) bool {
	total := -len(gap)
	for _, w := range g.widths {
		total += w + len(gap)
	}
	for width > 0 && total > width {
		first := -1
		for i, c := range g.columns {
			if g.shown[i] && c.drop > 0 && (first < 0 || c.drop > g.columns[first].drop) {
				first = i
			}
		}
		if first < 0 {
			return false
		}
		g.shown[first] = false
		total -= g.widths[first] + len(gap)
	}
	return true
}

const gap = "  "

func table(b *terminal.Writer, all []observe.Process) {
	g := layOut(all, b.Width)
	for r, row := range g.cells {
		var line strings.Builder
		for i, c := range g.columns {
			if !g.shown[i] {
				continue
			}
			if line.Len() > 0 {
				line.WriteString(gap)
			}
			pad := strings.Repeat(" ", g.widths[i]-ansi.StringWidth(row[i]))
			text := row[i]
			if r > 0 && c.head == findingsHead && len(all[r-1].Findings) > 0 {
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

func grade(s rule.Severity) string { return terminal.Grade(s.Rank()) }

// Head is the heading of a column.
type Head struct {
	Name     string
	Right    bool // it holds numbers
	Findings bool // it holds those
}

// Heads are those of all columns, for who lays the list out in another way: first
// those that are needed most, as on a narrow terminal.
func Heads() (heads []Head) {
	for _, c := range byNeed() {
		heads = append(heads, Head{c.head, c.right, c.head == findingsHead})
	}
	return heads
}

// Cells are a process's, in the order of Heads.
func Cells(p observe.Process) (cells []string) {
	for _, c := range byNeed() {
		cells = append(cells, c.cell(p))
	}
	return cells
}

func byNeed() []column {
	list := columns()
	slices.SortStableFunc(list, func(a, b column) int { return a.drop - b.drop })
	return list
}

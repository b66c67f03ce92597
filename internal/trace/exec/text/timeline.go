package text

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/trace/exec"
)

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// The signs of what is no letter.
const (
	nobody  = '·'
	anybody = '*'
	ofGo    = '#' // the runtime's own goroutines
)

// colors are given to the letters in turn: the terminal's own six.
var colors = []string{"36", "33", "32", "35", "34", "31"}

// signs gives each goroutine of the table a letter, in its order.
type signs map[int64]int

func newSigns(listed []exec.Goroutine) signs {
	s := signs{}
	for i, g := range listed {
		s[g.ID] = i
	}
	return s
}

func (s signs) sign(id int64) rune {
	if i, ok := s[id]; ok {
		return rune(letters[i])
	}
	return anybody
}

func (s signs) style(id int64) string {
	if i, ok := s[id]; ok {
		return colors[i%len(colors)]
	}
	return terminal.Dim
}

// cell is the sign of the span's goroutine.
func (s signs) cell(span exec.Span) terminal.Cell {
	if span.Runtime {
		return terminal.Cell{Rune: ofGo, Style: terminal.Dim}
	}
	return terminal.Cell{Rune: s.sign(span.Goroutine), Style: s.style(span.Goroutine)}
}

// timeline has a row for each P: in each column the goroutine that ran longest
// then.
func (w *writer) timeline() {
	procs := w.t.Procs[:min(len(w.t.Procs), w.rows)]
	label := 0
	for _, p := range procs {
		label = max(label, len("P "+strconv.Itoa(p.ID)))
	}
	wide := w.Width - label - 3
	end := w.t.Duration
	if int64(len(w.t.Spans)) < w.t.SpanCount {
		end = lastEnd(w.t)
	}
	w.heading("EACH P OVER TIME", "the goroutine that ran longest in each column")
	other := false
	for i, cells := range w.cells(procs, wide, end) {
		w.Line("  " + terminal.Pad("P "+strconv.Itoa(procs[i].ID), label, true) + " " + w.Cells(cells))
		other = other || slices.ContainsFunc(cells, func(c terminal.Cell) bool { return c.Rune == anybody })
	}
	indent := strings.Repeat(" ", label+3)
	middle, last := number.Duration(end/2), number.Duration(end)
	axis := terminal.Pad("0", wide/2-len([]rune(middle))/2, true) + middle
	axis += terminal.Pad(last, wide-len([]rune(axis)), false)
	w.Line(w.Style(terminal.Dim, indent+axis))
	note := "· none   # the runtime's own"
	if other {
		note += "   * others"
	}
	w.Line(w.Style(terminal.Dim, indent+note+"   letters: below"))
	w.more(len(w.t.Procs)-len(procs), "P")
}

// cells are the columns of each P's row, of a timeline that ends at end.
func (w *writer) cells(procs []exec.Proc, wide int, end time.Duration) [][]terminal.Cell {
	row := map[int]int{}
	longest := make([][]time.Duration, len(procs)) // in each column
	cells := make([][]terminal.Cell, len(procs))
	for i, p := range procs {
		row[p.ID] = i
		longest[i] = make([]time.Duration, wide)
		cells[i] = slices.Repeat([]terminal.Cell{{Rune: nobody, Style: terminal.Dim}}, wide)
	}
	at := func(column int) time.Duration { return time.Duration(float64(end) * float64(column) / float64(wide)) }
	column := func(t time.Duration) int { return min(wide-1, int(float64(t)/float64(end)*float64(wide))) }
	for _, s := range w.t.Spans {
		i, ok := row[s.Proc]
		if !ok || end <= 0 {
			continue
		}
		for c := column(s.Start); c <= column(s.End); c++ {
			if part := min(s.End, at(c+1)) - max(s.Start, at(c)); part > longest[i][c] {
				longest[i][c] = part
				cells[i][c] = w.cell(s)
			}
		}
	}
	return cells
}

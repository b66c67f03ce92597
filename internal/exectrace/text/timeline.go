package text

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/exectrace"
	"github.com/procfit/procfit/internal/terminal"
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

// signs gives the goroutines that ran longest a letter each, in the order of
// their appearance.
type signs struct {
	letter map[int64]int
	own    map[int64]bool
}

func newSigns(t *exectrace.Trace) signs {
	s := signs{letter: map[int64]int{}, own: map[int64]bool{}}
	var list []exectrace.Goroutine
	for _, g := range t.Goroutines {
		if g.Runtime {
			s.own[g.ID] = true
		} else if g.Spans > 0 {
			list = append(list, g)
		}
	}
	if len(list) > len(letters) {
		order := map[int64]int{}
		for i, g := range list {
			order[g.ID] = i
		}
		slices.SortStableFunc(list, func(a, b exectrace.Goroutine) int { return int(min(1, max(-1, b.Running-a.Running))) })
		list = list[:len(letters)]
		slices.SortFunc(list, func(a, b exectrace.Goroutine) int { return order[a.ID] - order[b.ID] })
	}
	for i, g := range list {
		s.letter[g.ID] = i
	}
	return s
}

func (s signs) sign(id int64) rune {
	if i, ok := s.letter[id]; ok {
		return rune(letters[i])
	}
	if s.own[id] {
		return ofGo
	}
	return anybody
}

func (s signs) style(id int64) string {
	if i, ok := s.letter[id]; ok {
		return colors[i%len(colors)]
	}
	return terminal.Dim
}

// timeline has a row for each P: in each column the goroutine that ran longest
// then.
func (w *writer) timeline() {
	procs := w.t.Procs[:min(len(w.t.Procs), w.rows)]
	label := 0
	row := map[int]int{}
	for i, p := range procs {
		row[p.ID] = i
		label = max(label, len("P "+strconv.Itoa(p.ID)))
	}
	wide := w.Width - label - 3
	end := w.t.Duration
	if int64(len(w.t.Spans)) < w.t.SpanCount {
		end = lastEnd(w.t)
	}
	most := make([][]time.Duration, len(procs)) // the longest in each column
	cells := make([][]terminal.Cell, len(procs))
	for i := range procs {
		most[i] = make([]time.Duration, wide)
		for range wide {
			cells[i] = append(cells[i], terminal.Cell{Rune: nobody, Style: terminal.Dim})
		}
	}
	other := false
	for _, s := range w.t.Spans {
		i, ok := row[s.Proc]
		if !ok || end <= 0 {
			continue
		}
		x := func(d time.Duration) int { return min(wide-1, int(float64(d)/float64(end)*float64(wide))) }
		for c := x(s.Start); c <= x(s.End); c++ {
			from := time.Duration(float64(end) * float64(c) / float64(wide))
			to := time.Duration(float64(end) * float64(c+1) / float64(wide))
			if part := min(s.End, to) - max(s.Start, from); part > most[i][c] {
				most[i][c] = part
				cells[i][c] = terminal.Cell{Rune: w.sign(s.Goroutine), Style: w.style(s.Goroutine)}
			}
		}
		other = other || w.sign(s.Goroutine) == anybody
	}
	w.heading("EACH P OVER TIME", "the goroutine that ran longest in each column")
	for i, p := range procs {
		w.Line("  " + terminal.Pad("P "+strconv.Itoa(p.ID), label, true) + " " + w.Cells(cells[i]))
	}
	middle, last := duration(end/2), duration(end)
	axis := terminal.Pad("0", wide/2-len([]rune(middle))/2, true) + middle
	axis += terminal.Pad(last, wide-len([]rune(axis)), false)
	w.Line(w.Style(terminal.Dim, strings.Repeat(" ", label+3)+axis))
	note := "· none   # the runtime's own"
	if other {
		note += "   * others"
	}
	w.Line(w.Style(terminal.Dim, strings.Repeat(" ", label+3)+note+"   letters: below"))
	w.more(len(w.t.Procs)-len(procs), "P")
}

package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/table"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/trace/exec"
)

// worthARow is how long a goroutine ran, to the one that ran longest, where there
// are more than rows: below it a row says less than the sum of all.
const worthARow = 1.0 / 1000

// list chooses the goroutines of the table.
func (w *writer) list() {
	var ran, rest []exec.Goroutine
	for _, g := range w.t.Goroutines {
		if !g.Runtime && g.Spans > 0 {
			ran = append(ran, g)
		}
	}
	w.listed, rest = exec.Longest(ran, w.room(ran), func(g exec.Goroutine) time.Duration { return g.Running })
	w.unlisted = w.t.Dropped
	for _, g := range rest {
		w.unlisted.Add(g)
	}
	w.signs = newSigns(w.listed)
}

// room is how many of the goroutines get a row, and a letter.
func (w *writer) room(ran []exec.Goroutine) int {
	room := min(w.rows, len(letters))
	if len(ran) <= room {
		return room
	}
	var longest time.Duration
	for _, g := range ran {
		longest = max(longest, g.Running)
	}
	worth := 0
	for _, g := range ran {
		if g.IsMain() || float64(g.Running) >= worthARow*float64(longest) {
			worth++
		}
	}
	return min(room, worth)
}

// goroutines are those that ran, but for the runtime's own.
func (w *writer) goroutines() {
	t := table.Table{Sign: 2, Columns: []table.Column{
		{}, {Steps: []table.Step{{Rank: 6, To: 16}, {Rank: 4, To: 12}}}, {Right: true}, {},
		{Right: true, Steps: []table.Step{{Rank: 1, To: table.Gone}}}, {Right: true, Steps: []table.Step{{Rank: 2, To: table.Gone}}},
		{Cut: whole, Steps: []table.Step{{Rank: 5, To: 8}, {Rank: 3, To: table.Gone}}},
	}}
	t.Rows = []table.Row{{Style: terminal.Dim, Cells: table.Cells("", "goroutine", "id", "first ran on", "waited", "ran", "where it ran")}}
	for _, g := range w.listed {
		cells := table.Cells(string(w.sign(g.ID)), name(g), tally(g.ID), first(g), waited(g), number.Duration(g.Running), places(g))
		cells[0].Style = w.style(g.ID)
		t.Rows = append(t.Rows, table.Row{Cells: cells})
	}
	w.heading("GOROUTINES", w.selection())
	t.Write(w.Writer)
	if n := w.unlisted.Goroutines; n > 0 {
		w.Wrap("  ", "  ", fmt.Sprintf("and %s, which ran %s in all", phrase.Count(n, "more goroutine"), number.Duration(w.unlisted.Running)), terminal.Dim)
	}
}

// selection says which goroutines the table holds, if not all.
func (w *writer) selection() string {
	switch {
	case w.unlisted.Goroutines == 0:
		return ""
	case slices.ContainsFunc(w.listed, exec.Goroutine.IsMain):
		return "main and those that ran longest"
	}
	return "those that ran longest"
}

func name(g exec.Goroutine) string {
	text := g.Name
	if text == "" {
		text = "unknown"
	}
	return text
}

func first(g exec.Goroutine) string {
	if g.FirstProc == exec.NoProc {
		return "ran already"
	}
	on := "P " + strconv.Itoa(g.FirstProc)
	switch g.FirstOrigin {
	case exec.Stolen:
		return fmt.Sprintf("%s, stolen from P %d", on, g.ReadyProc)
	case exec.Unclear:
		return fmt.Sprintf("%s, ready on P %d", on, g.ReadyProc)
	case exec.Own:
		return on + ", its own"
	case exec.Global:
		return on + ", global queue"
	}
	return on
}

func waited(g exec.Goroutine) string {
	if g.FirstProc == exec.NoProc || g.FirstOrigin == exec.Unknown {
		return "–"
	}
	return number.Duration(g.FirstWait)
}

func places(g exec.Goroutine) string {
	var list []string
	for _, p := range g.Procs {
		text := "P " + strconv.Itoa(p.Proc)
		if len(g.Procs) > 1 {
			text += " " + number.Duration(p.Running)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// whole drops from the end of a list what has no room, and no part of a duration.
func whole(list string, room int) string {
	for utf8.RuneCountInString(list) > room {
		i := strings.LastIndex(strings.TrimSuffix(list, ",…"), ", ")
		if i < 0 {
			break
		}
		list = list[:i] + ",…"
	}
	return phrase.Clip(list, room)
}

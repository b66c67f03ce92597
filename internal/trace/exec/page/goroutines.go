package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/trace/exec"
)

// letters are the signs of goroutines.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// key is the goroutines that are distinguished, and the others that ran, but for the
// runtime's own.
type key struct {
	list   []exec.Goroutine
	others exec.Tally
}

// worthARow is how long a goroutine ran, to the one that ran longest, where there
// are more than rows: below it a row says less than the sum of all.
const worthARow = 1.0 / 1000

func listed(t *exec.Trace, room int) key {
	var ran []exec.Goroutine
	var longest time.Duration
	for _, g := range t.Goroutines {
		if !g.Runtime && g.Spans > 0 {
			ran = append(ran, g)
			longest = max(longest, g.Running)
		}
	}
	if len(ran) > room {
		worth := 0
		for _, g := range ran {
			if g.IsMain() || float64(g.Running) >= worthARow*float64(longest) {
				worth++
			}
		}
		room = min(room, worth)
	}
	kept, rest := exec.Longest(ran, room)
	others := t.Dropped
	for _, g := range rest {
		others.Add(g)
	}
	return key{kept, others}
}

func goroutines(k key) document.Table {
	out := document.Table{Columns: columns("", "goroutine", "id", "first ran on", "waited", "ran", "where it ran")}
	c := out.Columns
	c[0].Short = " "
	c[1].Left, c[3].Left, c[6].Left = true, true, true
	c[1].Least, c[6].Least = 12, 8
	for i, g := range k.list {
		name := cmp.Or(g.Name, "unknown")
		out.Rows = append(out.Rows, row(letters[i:i+1], name, tally(g.ID), first(g), waited(g), number.Duration(g.Running), places(g)))
	}
	return out
}

func fairness(list []exec.Fairness) document.Table {
	out := document.Table{Columns: columns("function", "goroutines", "ran in all", "least", "most", "fairness")}
	out.Columns[0].Least = 12
	for _, a := range list {
		out.Rows = append(out.Rows, row(a.Func, tally(int64(a.Goroutines)), number.Duration(a.Running), number.Duration(a.Least), number.Duration(a.Most), number.Significant(a.Jain, number.Digits)))
	}
	return out
}

// selection says which goroutines the table holds, if not all.
func (k key) selection() string {
	switch {
	case k.others.Goroutines == 0:
		return ""
	case slices.ContainsFunc(k.list, exec.Goroutine.IsMain):
		return "main and those that ran longest"
	}
	return "those that ran longest"
}

func (k key) rest() string {
	if k.others.Goroutines == 0 {
		return ""
	}
	return fmt.Sprintf("and %s, which ran %s in all", phrase.Count(k.others.Goroutines, "more goroutine"), number.Duration(k.others.Running))
}

func first(g exec.Goroutine) string {
	if g.FirstProc == exec.NoProc {
		return "ran already"
	}
	on := procName(g.FirstProc)
	switch g.FirstOrigin {
	case exec.Stolen:
		return on + ", stolen from " + procName(g.ReadyProc)
	case exec.Unclear:
		return on + ", ready on " + procName(g.ReadyProc)
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
		text := procName(p.Proc)
		if len(g.Procs) > 1 {
			text += " " + number.Duration(p.Running)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

package watch

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/sorting"
)

type row struct {
	id      observe.Identity
	process observe.Process // as last seen
	name    string          // clean
	cells   []string        // by column
	gone    int             // scans since it was last seen
	history history
}

// lingers is the number of scans for which a process that has ended is still shown.
const lingers = 5

type list struct {
	look    look
	rows    map[observe.Identity]*row
	shown   []*row // that match the filter, in order
	widths  []int  // of the cells of all rows, by column
	sort    int    // column
	reverse bool
	filter  filter
	cursor  int    // the selected one of those shown
	window  window // of those shown
}

// take updates the list with a snapshot. keep is a process that stays even after it has
// ended.
func (l *list) take(snap observe.Snapshot, at time.Duration, keep observe.Identity) {
	for _, r := range l.rows {
		r.gone++
	}
	most := room(len(snap.Processes))
	for _, p := range snap.Processes {
		id := p.Identity()
		r := l.rows[id]
		if r == nil {
			r = &row{id: id}
			l.rows[id] = r
		}
		r.process, r.gone, r.name = p, 0, l.look.name(p.Name)
		r.history.add(p, at, most)
	}
	for id, r := range l.rows {
		if r.gone > lingers && id != keep {
			delete(l.rows, id)
		} else {
			r.fill(l.look)
		}
	}
	l.measure()
	l.arrange()
}

// measure takes the widths of all rows, so that columns do not move while scrolling.
func (l *list) measure() {
	l.widths = make([]int, len(columns))
	for _, r := range l.rows {
		for i, cell := range r.cells {
			l.widths[i] = max(l.widths[i], cells(cell))
		}
	}
}

// empty reports whether a column is left out, as no process has it.
func (l *list) empty(c int) bool {
	return columns[c].Rare && c != l.sort && !slices.ContainsFunc(slices.Collect(maps.Values(l.rows)), func(r *row) bool { return r.cells[c] != inspect.Unknown })
}

// arrange filters and sorts. The selected process stays selected, or its neighbor if it
// is no longer shown.
func (l *list) arrange() {
	id, was := l.selected()
	l.shown = l.shown[:0]
	for _, r := range l.rows {
		if l.filter.matches(r) {
			l.shown = append(l.shown, r)
		}
	}
	c := columns[l.sort]
	sorting.Stable(l.shown, func(a, b *row) int {
		return cmp.Or(c.Compare(&a.process, &b.process, l.reverse), cmp.Compare(a.id.PID, b.id.PID), cmp.Compare(a.id.Started, b.id.Started))
	})
	if i := slices.IndexFunc(l.shown, func(r *row) bool { return r.id == id }); was && i >= 0 {
		l.cursor = i
	}
	l.move(0)
}

func (l *list) move(by int) {
	l.cursor = max(0, min(l.cursor+by, len(l.shown)-1))
	l.window.lines = len(l.shown)
	l.window.show(l.cursor)
}

func (l *list) selected() (observe.Identity, bool) {
	if l.cursor < len(l.shown) {
		return l.shown[l.cursor].id, true
	}
	return observe.Identity{}, false
}

// window is which lines are on the screen.
type window struct{ top, height, lines int }

func (w *window) scroll(by int) { w.top = max(0, min(w.top+by, w.lines-w.height)) }

// show scrolls as far as it takes to have a line on the screen.
func (w *window) show(line int) {
	if w.height < 1 { // nothing was on the screen yet
		return
	}
	w.scroll(0)
	w.top = max(min(w.top, line), line-w.height+1)
}

// end is behind the last line on the screen.
func (w *window) end() int { return min(w.top+w.height, w.lines) }

// filter is words that a process must all match: by its name, PID, Go version or a rule
// ID, or, as column=word, by that column. A word after ! must not match.
type filter string

func (f filter) matches(r *row) bool {
	for word := range strings.FieldsSeq(strings.ToLower(string(f))) {
		bare, not := strings.CutPrefix(word, "!")
		if bare != "" && r.has(bare) == not {
			return false
		}
	}
	return true
}

// has reports whether the process matches the word, in lower case. A number matches the
// beginning of a PID.
func (r *row) has(word string) bool {
	p := &r.process
	if name, text, of := strings.Cut(word, "="); of && inspect.Index(name) >= 0 {
		return columns[inspect.Index(name)].Matches(p, text)
	}
	return strings.HasPrefix(strconv.Itoa(p.PID), word) || strings.Contains(strings.ToLower(r.name), word) ||
		strings.Contains(strings.ToLower(p.Facts.GoVersion), word) || columns[findingsColumn].Matches(p, word)
}

// longestFilter is in bytes.
const longestFilter = 200

// edited is a text after a key; false: the key does not change it. Typing is always at the end.
func edited(text, name, typed string) (string, bool) {
	switch name {
	case "backspace", "ctrl+h":
		_, size := utf8.DecodeLastRuneInString(text)
		return text[:len(text)-size], true
	case "ctrl+u":
		return "", true
	case "ctrl+w":
		text = strings.TrimRight(text, " ")
		return text[:strings.LastIndexByte(text, ' ')+1], true
	}
	if len(text)+len(typed) > longestFilter {
		return text, true
	}
	return text + typed, typed != ""
}

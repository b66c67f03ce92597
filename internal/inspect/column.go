// Package inspect is the one list of everything that procfit shows about a Go process:
// its columns. The tables of procfit ps, its live view, its JSON and the exporter choose
// from them.
//
// # Model
//
// A column has a name, which is used to sort and filter, as the key in JSON and, in
// capitals, as the heading; a rank, which decides what is dropped on a narrow terminal;
// and a value for each process: a number in its unit, a text, or nothing if it is not
// known. Which GOMAXPROCS is recommended for a program is decided in Recommendation alone.
//
// # Limits
//
// Counters are not columns. Values that only grow, and values of a cgroup instead of a
// process, are in the exporter's metrics.
package inspect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Column is one value of a process.
type Column struct {
	Name string // to sort and filter by, and the key in JSON
	Help string // what it is; empty: the column is only in JSON
	Rank int    // on a narrow terminal the highest is dropped first; 0 stays

	// Value is a number, a text or findings; nil: not known.
	Value func(*observe.Process) any
	Unit  func(float64) string // formats its numbers; nil: it holds text

	Rising  bool // sorted with the smallest first
	Counted bool // over the interval; in the first scan over the life of the process
	Rare    bool // left out of a table in which no process has it
	Threads bool // not known of a Scanner that is Uncounted

	words func(*observe.Process) string // nil: the value alone
	short func(*observe.Process) string // nil: there is no shorter form
	order func(a, b *observe.Process) int
}

// Unknown is the text of a value that is not known or does not exist.
const Unknown = "-"

// The list is made once and never changed.
var (
	everything = list()
	columns    = slices.DeleteFunc(list(), func(c Column) bool { return c.Help == "" })
)

// All returns the columns, with those that are only in JSON.
func All() []Column { return everything }

func Columns() []Column { return columns }

// Names returns the names that a list can be sorted by, the default first.
func Names() []string {
	names := []string{Findings}
	for _, c := range columns {
		if c.Name != Findings {
			names = append(names, c.Name)
		}
	}
	return names
}

// Index is the index of a column; -1: there is no column of that name.
func Index(name string) int {
	return slices.IndexFunc(columns, func(c Column) bool { return c.Name == name })
}

func (c Column) Heading() string { return strings.ToUpper(strings.ReplaceAll(c.Name, "_", " ")) }

// Right reports whether it is aligned to the right, as numbers are.
func (c Column) Right() bool { return c.Unit != nil }

func (c Column) Text(p *observe.Process) string {
	if c.words != nil {
		return c.words(p)
	}
	switch v := c.Value(p).(type) {
	case float64:
		return c.Unit(v)
	case string:
		return phrase.Clean(v)
	}
	return Unknown
}

// Short is Text for a narrow table; empty: it has no shorter form.
func (c Column) Short(p *observe.Process) string {
	if c.short == nil {
		return ""
	}
	return c.short(p)
}

// Matches reports whether this column of a process matches the word, in lower case: a
// number must be equal, a text must contain it.
func (c Column) Matches(p *observe.Process, word string) bool {
	if v, ok := c.Value(p).(float64); ok && c.Unit != nil {
		return strings.ToLower(c.Unit(v)) == word
	}
	return strings.Contains(strings.ToLower(c.Text(p)), word)
}

// Compare orders two processes: the largest numbers first, unless the column is rising.
// Unknown values come last in both orders.
func (c Column) Compare(a, b *observe.Process, reverse bool) int {
	x, y := c.Value(a), c.Value(b)
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return 1
	case y == nil:
		return -1
	}
	by := 0
	switch v := x.(type) {
	case float64:
		by = cmp.Compare(v, y.(float64))
	case string:
		by = cmp.Compare(v, y.(string))
	}
	if c.order != nil {
		by = c.order(a, b)
	}
	if c.Rising == reverse {
		return -by
	}
	return by
}

// Sort sorts processes by a column, equal ones by PID.
func Sort(all []observe.Process, name string) {
	c, unsorted := columns[Index(name)], slices.Clone(all)
	sorted := make([]*observe.Process, len(all)) // by their addresses: processes are large
	for i := range unsorted {
		sorted[i] = &unsorted[i]
	}
	sorting.Stable(sorted, func(a, b *observe.Process) int {
		return cmp.Or(c.Compare(a, b, false), cmp.Compare(a.PID, b.PID))
	})
	for i, p := range sorted {
		all[i] = *p
	}
}

// worstFirst puts first what is slower now, then the worst finding, then what cannot be judged, then the rest.
func worstFirst(a, b *observe.Process) int {
	place := func(p *observe.Process) (int, string) {
		switch {
		case len(p.Findings) > 0:
			return 0, p.Findings[0].Rule
		case !Recommend(p.Subject).Judged():
			return 1, ""
		}
		return 2, ""
	}
	x, first := place(a)
	y, other := place(b)
	return cmp.Or(cmp.Compare(x, y), rule.CompareWorst(a.Findings, b.Findings), cmp.Compare(first, other))
}

// Remedies are what to do about findings that share a fix: the command that helps now, if one has
// it, and the fix.
func Remedies(shared []rule.Finding) []string {
	for _, f := range shared {
		if f.Now != "" {
			return []string{"now: " + f.Now, f.Fix}
		}
	}
	return []string{shared[0].Fix}
}

func ByFix(findings []rule.Finding) (shared [][]rule.Finding) {
	for _, f := range findings {
		i := slices.IndexFunc(shared, func(s []rule.Finding) bool { return s[0].Fix == f.Fix })
		if i < 0 {
			shared = append(shared, []rule.Finding{f})
		} else {
			shared[i] = append(shared[i], f)
		}
	}
	return shared
}

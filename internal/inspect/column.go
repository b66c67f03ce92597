// Package inspect is the one list of what is shown of a Go process: its columns. The
// tables of procfit ps, its live view, its JSON and the exporter choose from them.
//
// # Model
//
// A column has a name, which sorts, filters, is the key in JSON and in capitals is the
// heading; a rank, by which columns go where there is no room for all; and a value of a
// process: a number in its unit, a text, or nothing where it is not known. Which
// GOMAXPROCS suits a program, and how far that can be told, is decided in Fit alone.
//
// # Limits
//
// Counters are not columns: what only grows, and what belongs to a group and not to a
// process, is in the exporter's metrics.
package inspect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Column is one figure of a process.
type Column struct {
	Name string // to sort and filter by, and the key in JSON
	Help string // what it is; of one that is in JSON alone there is none
	Rank int    // on a narrow terminal the highest goes first; 0 stays

	// Value is a number, a text or findings; nil: not known.
	Value func(*observe.Process) any
	Unit  func(float64) string // writes its numbers; nil: it holds text

	Rising  bool // sorted the smallest first
	Counted bool // over the interval, or in the first scan over the life of the process

	words func(*observe.Process) string // nil: the value alone
	short func(*observe.Process) string // nil: there is no shorter form
	order func(a, b *observe.Process) int
}

// Unknown stands in a table for what is not known, or is not there.
const Unknown = "-"

// The list is made once. Nobody may change it.
var (
	everything = list()
	columns    = slices.DeleteFunc(list(), func(c Column) bool { return c.Help == "" })
	byNeed     = slices.SortedStableFunc(slices.Values(columns), func(a, b Column) int { return a.Rank - b.Rank })
)

// All are the columns and what else JSON has of a process.
func All() []Column { return everything }

// Columns are those of a table, in their order.
func Columns() []Column { return columns }

// ByNeed are the columns that are needed most first, as they stay on a narrow terminal.
func ByNeed() []Column { return byNeed }

// Names are what a list can be sorted by, the default first.
func Names() []string {
	names := []string{Findings}
	for _, c := range columns {
		if c.Name != Findings {
			names = append(names, c.Name)
		}
	}
	return names
}

// Index is the place of a column; -1 where there is none of that name.
func Index(name string) int {
	return slices.IndexFunc(columns, func(c Column) bool { return c.Name == name })
}

// Heading is its name as it stands above a table.
func (c Column) Heading() string { return strings.ToUpper(strings.ReplaceAll(c.Name, "_", " ")) }

// Right tells that it holds numbers, which end below one another.
func (c Column) Right() bool { return c.Unit != nil }

// Text is what a table shows of a process.
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

// Short is Text where there is little room.
func (c Column) Short(p *observe.Process) string {
	if c.short != nil {
		return c.short(p)
	}
	return c.Text(p)
}

// Matches tells that a process has the word, which is in lower case, in this column: a
// number as a whole, a text anywhere.
func (c Column) Matches(p *observe.Process, word string) bool {
	if v, ok := c.Value(p).(float64); ok && c.Unit != nil {
		return strings.ToLower(c.Unit(v)) == word
	}
	return strings.Contains(strings.ToLower(c.Text(p)), word)
}

// Compare orders two processes: numbers the largest first, unless the column is rising.
// What is not known comes last either way.
func (c Column) Compare(a, b *observe.Process, reverse bool) int {
	by := 0
	if c.order != nil {
		by = c.order(a, b)
	} else {
		x, y := c.Value(a), c.Value(b)
		switch v := x.(type) {
		case nil:
			if y == nil {
				return 0
			}
			return 1
		case float64:
			if y == nil {
				return -1
			}
			by = cmp.Compare(v, y.(float64))
		case string:
			if y == nil {
				return -1
			}
			by = cmp.Compare(v, y.(string))
		}
	}
	if c.Rising == reverse {
		return -by
	}
	return by
}

// Sort sorts processes by a column, equal ones by PID.
func Sort(all []observe.Process, name string) {
	c := columns[Index(name)]
	slices.SortStableFunc(all, func(a, b observe.Process) int {
		return cmp.Or(c.Compare(&a, &b, false), cmp.Compare(a.PID, b.PID))
	})
}

// worstFirst puts the worst finding first, then what cannot be judged, then what fits.
func worstFirst(a, b *observe.Process) int {
	place := func(p *observe.Process) (int, string) {
		switch {
		case len(p.Findings) > 0:
			return rule.Worst(p.Findings).Rank(), p.Findings[0].Rule
		case !FitOf(p.Subject).Judged():
			return len(rule.Severities()), ""
		}
		return len(rule.Severities()) + 1, ""
	}
	x, first := place(a)
	y, other := place(b)
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(first, other))
}

// ByFix puts together the findings that share a fix, where the first of them is.
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

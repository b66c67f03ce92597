package document

import "slices"

// Table is rows of worded cells. Where its rows have strips, a wide renderer draws these
// after the column of that index, under their heading.
type Table struct {
	Columns    []Column
	Rows       []Row
	StripHead  string
	StripAfter int  // 0: the rows have none
	Prose      bool // its cells are sentences, which wrap
	Foot       bool // on a terminal it is at the end, where the eye is
}

// Column is a heading. Short is for narrow renderers, which leave out a column
// without one, and the details of a column that is not Detailed.
type Column struct {
	Head     string
	Short    string
	Left     bool // text, not numbers
	Detailed bool
	Aside    bool // less looked at: see Table.Split
	Least    int  // where there is no room, its cells may lose their ends, down to N letters; 0: none
	Bars     bool // where there is room, its cells have bars as long as they say
}

// Split is the table without the columns that stand aside, and a table of these with the
// first column; nil: there are none.
func (t Table) Split() (main Table, aside *Table) {
	less := Table{Rows: make([]Row, len(t.Rows))}
	main = t
	main.Columns, main.Rows = nil, slices.Clone(t.Rows)
	for j := range t.Rows {
		less.Rows[j].Mark, main.Rows[j].Cells = t.Rows[j].Mark, nil
	}
	for i, c := range t.Columns {
		for _, to := range []*Table{&main, &less} {
			if i > 0 && c.Aside != (to == &less) {
				continue
			}
			to.Columns = append(to.Columns, c)
			for j := range t.Rows {
				to.Rows[j].Cells = append(to.Rows[j].Cells, t.Rows[j].Cells[i])
			}
		}
	}
	if len(less.Columns) < 2 {
		return main, nil
	}
	return main, &less
}

// Row is a line of a Table; Mark is a word on its standing, if any.
type Row struct {
	Cells []Cell
	Mark  string
	Tone  Tone   // of its first cell; empty: none
	Link  string // where its first cell leads
	Strip *Strip
}

// Cell is a value with what belongs to it: an interval, a breakdown.
type Cell struct {
	Value, Detail string
	Tag           string  // where the value is from, in a word before it
	To            string  // where the value leads
	Bar           float64 // in a column with bars: the part of the longest
}

// Strip is one measured interval on a line of its own, against what is wanted. Positions
// are fractions of the line.
type Strip struct {
	Zone     Span // where it is as wanted
	Present  bool
	At       float64
	Interval Span   // from and to the same: none
	Ticks    []Tick // what else to compare with
	Document *Tick  // the value of a document that it is held against
	Summary  string // the strip in words
}

// Span is a part of a line.
type Span struct{ From, To float64 }

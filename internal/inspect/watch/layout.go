package watch

// The minimum width of names and findings, and their width before extra columns are shown.
const (
	leastName, leastFindings = 9, 8
	goodName, goodFindings   = 24, 44
)

// The rank from which a column is dropped before names are shortened, and the rank from
// which it is an extra column: it is shown only if the findings stay readable.
const (
	dispensable = 3
	extra       = 11
)

// gap is between two columns.
func (m *model) gap() string {
	if m.width >= 110 {
		return "  "
	}
	return " "
}

// fairName is the width that names get before dispensable columns: more on a wider
// terminal, but not more than they need.
func (m *model) fairName() int {
	return max(leastName, min(goodName, leastName+max(0, m.width-68)/3, m.list.widths[nameColumn]))
}

// columnsShown are the columns for which there is room: extra columns only if names and
// findings stay readable, and of the others as many as possible.
func (m *model) columnsShown() []int {
	fit := func(name, findings, most, least int) ([]int, bool) {
		widths := make([]int, len(columns))
		for c := range columns {
			widths[c] = m.fixed(c) + len(m.gap())
		}
		widths[nameColumn], widths[findingsColumn] = name+len(m.gap()), findings+len(m.gap())
		return columnsIn(widths, m.width-1+len(m.gap()), most, least)
	}
	shown, fits := fit(goodName, goodFindings, len(columns), extra-1)
	if !fits {
		shown, fits = fit(m.fairName(), leastFindings, extra-1, dispensable-1)
	}
	if !fits {
		shown, _ = fit(leastName, leastFindings, dispensable-1, 0)
	}
	return shown
}

// columnsIn are the indices of the columns up to the rank most for which there is room.
// A column's width includes the gap after it. The highest ranks are dropped first, and
// ranks up to least never. fits is false if what is left is still too wide.
func columnsIn(widths []int, width, most, least int) (shown []int, fits bool) {
	for ; ; most-- {
		shown, used := shown[:0], 0
		for i, c := range columns {
			if c.Rank <= most {
				shown = append(shown, i)
				used += widths[i]
			}
		}
		if fits := used <= width; fits || most <= least {
			return shown, fits
		}
	}
}

// fixed is the width of a column that does not stretch.
func (m *model) fixed(c int) int { return max(m.list.widths[c], cells(m.heading(c))) }

// columnWidths divides the remaining width between the name and the findings.
func (m *model) columnWidths(shown []int) []int {
	widths := make([]int, len(columns))
	left := m.width - 1 - len(m.gap())*(len(shown)-1)
	for _, c := range shown {
		if c != nameColumn && c != findingsColumn {
			widths[c] = m.fixed(c)
			left -= widths[c]
		}
	}
	if shown[len(shown)-1] != findingsColumn {
		widths[nameColumn] = max(1, left)
		return widths
	}
	widths[nameColumn] = min(m.fixed(nameColumn), max(m.fairName(), min(left*9/20, goodName+left/8)), max(1, left-leastFindings))
	widths[findingsColumn] = max(1, left-widths[nameColumn])
	return widths
}

package watch

// The room that names and findings get at least, and before an extra column.
const (
	leastName, leastFindings = 9, 8
	goodName, goodFindings   = 24, 44
)

// From which rank on a column goes before names are cut, and from which on it is an
// extra: it needs a terminal that has room for it beside a finding that can be read.
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

// fairName is the room that names get before a column that can be done without: more
// on a wider terminal, and no more than they take.
func (m *model) fairName() int {
	return max(leastName, min(goodName, leastName+max(0, m.width-68)/3, m.list.widths[nameColumn]))
}

// columnsShown are those that the width has room for: extra ones as long as names
// and findings stay readable, of the others as many as fit at all.
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

// columnsIn are the columns of the rank most and below, by their places, that a width has
// room for, each with the gap after it among its own: those of the highest rank go first,
// and of the rank least and below none. fits is false where too many are left.
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

// fixed is the width of a column that is not what the others leave.
func (m *model) fixed(c int) int { return max(m.list.widths[c], cells(m.heading(c))) }

// columnWidths shares what is left between the name and the findings.
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

package watch

// The room that names and verdicts get at least, and before an extra column.
const (
	leastName, leastVerdict = 9, 8
	goodName, goodVerdict   = 24, 44
)

// fairName is the room that names get before a column that can be done without: more
// on a wider terminal, and no more than they take.
func (m *model) fairName() int {
	fair := min(goodName, leastName+max(0, m.width-68)/3)
	if m.list.widths != nil {
		fair = min(fair, m.list.widths[columnOf("name")])
	}
	return max(leastName, fair)
}

// dispensable is from which drop on a column goes before names are cut.
const dispensable = 3

// gap is between two columns.
func (m *model) gap() string {
	if m.width >= 110 {
		return "  "
	}
	return " "
}

// columnsShown are those that the width has room for: extra ones as long as names
// and verdicts stay readable, of the others as many as fit at all.
func (m *model) columnsShown() []int {
	takes := func(c int) int { return m.fixed(c) + len(m.gap()) }
	used := 1 + leastName
	dropped := map[int]bool{}
	for c := range columns {
		if columns[c].drop >= wide {
			dropped[c] = true
		} else if columns[c].name != "name" {
			used += takes(c)
		}
	}
	for {
		last := -1
		for c := range columns {
			if !dropped[c] && columns[c].drop > 0 && (last < 0 || columns[c].drop > columns[last].drop) {
				last = c
			}
		}
		room := used
		if last >= 0 && columns[last].drop >= dispensable {
			room += m.fairName() - leastName
		}
		if last < 0 || room <= m.width {
			break
		}
		dropped[last] = true
		used -= takes(last)
	}
	used += goodName - leastName + goodVerdict - leastVerdict
	for drop := wide; ; drop++ {
		next := -1
		for c := range columns {
			if columns[c].drop == drop {
				next = c
			}
		}
		if next < 0 || used+takes(next) > m.width {
			break
		}
		dropped[next] = false
		used += takes(next)
	}
	var shown []int
	for c := range columns {
		if !dropped[c] {
			shown = append(shown, c)
		}
	}
	return shown
}

// fixed is the width of a column that is not what the others leave; of the
// verdict it is the least.
func (m *model) fixed(c int) int {
	if columns[c].name == "findings" {
		return leastVerdict
	}
	content := 0
	if m.list.widths != nil {
		content = min(m.list.widths[c], columns[c].most)
	}
	return max(content, cells(m.title(c)))
}

// columnWidths shares what is left between the name and the verdict.
func (m *model) columnWidths(shown []int) []int {
	widths := make([]int, len(shown))
	left, name, verdict := m.width-1-len(m.gap())*(len(shown)-1), -1, -1
	for i, c := range shown {
		switch columns[c].name {
		case "name":
			name = i
		case "findings":
			verdict = i
		default:
			widths[i] = m.fixed(c)
			left -= widths[i]
		}
	}
	if verdict < 0 {
		widths[name] = max(1, left)
		return widths
	}
	content := cells(m.title(columnOf("name")))
	if m.list.widths != nil {
		content = max(content, m.list.widths[columnOf("name")])
	}
	widths[name] = min(content, max(m.fairName(), min(left*9/20, goodName+left/8)), max(1, left-leastVerdict))
	widths[verdict] = max(1, left-widths[name])
	return widths
}

package watch

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// The smallest usable terminal, and the height from which there is room for more than the
// list.
const (
	leastWidth, leastHeight = 20, 5
	summaryHeight           = 10
	adviceHeight            = 16
	longAdviceHeight        = 24
)

func (m *model) View() tea.View {
	v := tea.View{AltScreen: true}
	if m.width <= 0 || m.height <= 0 {
		return v
	}
	lines := m.lines()
	for i, line := range lines {
		lines[i] = m.clip(line, m.width)
	}
	v.Content = strings.Join(lines, "\n")
	if m.typing != nil && m.width >= leastWidth && m.height >= leastHeight {
		v.Cursor = tea.NewCursor(min(cells(m.prompt()), m.width-1), m.height-1)
	}
	return v
}

// lines are the whole screen.
func (m *model) lines() []string {
	if m.width < leastWidth || m.height < leastHeight {
		lines := make([]string, m.height)
		lines[0] = "too small"
		return lines
	}
	var lines []string
	switch m.page {
	case helpPage:
		lines = m.helpLines()
	case detailPage:
		lines = m.detailLines()
	default:
		lines = m.tableLines()
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	return append(lines[:m.height-1], m.footer())
}

// titleLine is the first of every page.
func (m *model) titleLine() string {
	line := []string{m.paint(bold, "procfit")}
	if n := m.cpus(); n > 0 {
		line = append(line, phrase.Count(n, "CPU"))
	}
	line = append(line, "every "+m.interval.String())
	if m.seen {
		line = append(line, "counters: "+m.clean(string(m.snap.Counters)))
	}
	state := ""
	switch {
	case m.paused:
		state = m.paint(alarm, " PAUSED ") + " "
	case m.took > m.interval:
		state = m.paint(yellow, "a scan takes "+m.span(m.took.Seconds())) + "  "
	}
	if m.seen {
		state += m.snap.At.Format("15:04:05")
	}
	return m.sides(strings.Join(line, m.dot()), state, m.width)
}

// cpus is the number of CPUs of the host, from any process.
func (m *model) cpus() int {
	for _, p := range m.snap.Processes {
		if n := int(p.Facts.Online.CPUs); n > 0 {
			return n
		}
	}
	return 0
}

// unlisted counts the unreadable processes that are not in the list. Processes that the
// user named are in it.
func (m *model) unlisted() (n int) {
	for _, u := range m.snap.Unreadable {
		if !slices.ContainsFunc(m.snap.Processes, func(p observe.Process) bool { return p.PID == u.PID }) {
			n++
		}
	}
	return n
}

// summary counts the processes and their findings.
func (m *model) summary() string {
	if !m.seen {
		return "reading all processes" + m.more()
	}
	all := len(m.snap.Processes)
	text := m.paint(bold, phrase.CountOf(all, "Go process", "Go processes")) + fmt.Sprintf(" of %d", all+m.snap.Others+m.unlisted())
	counts, found := map[rule.Severity]int{}, 0
	for _, p := range m.snap.Processes {
		if len(p.Findings) > 0 {
			counts[rule.Worst(p.Findings)]++
			found++
		}
	}
	if found > 0 {
		text += fmt.Sprintf(", %d with findings:", found)
	} else if all > 0 {
		text += ", none with findings"
	}
	for _, s := range rule.Severities() {
		if counts[s] > 0 {
			text += " " + m.paint(m.severity(s), phrase.Count(counts[s], string(s)))
		}
	}
	right := ""
	if m.list.filter.text != "" && m.typing == nil {
		right = m.paint(cyan, "/"+m.clean(m.list.filter.text)) + fmt.Sprintf(" shows %d", len(m.list.shown))
	}
	return m.sides(text, right, m.width)
}

// problems is what the list does not show: a failed scan, and how many processes could
// not be read, and why.
func (m *model) problems() string {
	if m.failed != nil {
		return m.paint(alarm, "the scan failed: "+m.clean(m.failed.Error()))
	}
	kinds := map[string]int{}
	for _, u := range m.snap.Unreadable {
		kinds[u.Summary()]++
	}
	inferred := 0
	for _, p := range m.snap.Processes {
		if p.ProcsSource() == observe.Inferred {
			inferred++
		}
	}
	var parts []string
	for kind, n := range kinds {
		parts = append(parts, fmt.Sprintf("%d not readable: %s", n, m.clean(kind)))
	}
	slices.Sort(parts)
	if inferred > 0 {
		parts = append([]string{fmt.Sprintf("%d inferred", inferred)}, parts...)
	}
	return m.paint(faint, strings.Join(parts, "; "))
}

// footer is the last line: the keys, or the filter that is being typed.
func (m *model) footer() string {
	if m.typing != nil {
		return m.sides(m.prompt(), "Enter keep"+m.dot()+"Esc undo", m.width)
	}
	keys := [][2]string{{"q", "quit"}, {"?", "help"}, {"Enter", "detail"}, {"/", "filter"}, {"s", "sort"}, {"S", "reverse"}, {"p", "pause"}, {"+-", "interval"}}
	switch m.page {
	case detailPage:
		keys = [][2]string{{"Esc", "back"}, {"q", "quit"}, {m.arrows(), "scroll"}, {"?", "help"}, {"p", "pause"}, {"+-", "interval"}}
	case helpPage:
		keys = [][2]string{{"Esc", "back"}, {"q", "quit"}, {m.arrows(), "scroll"}}
	}
	line := ""
	for _, k := range keys {
		next := " " + m.paint(selected, " "+k[0]+" ") + " " + k[1]
		if cells(line)+cells(next) > m.width {
			break
		}
		line += next
	}
	return line
}

// prompt is the filter that is being typed, shortened at its beginning.
func (m *model) prompt() string {
	text := "/" + m.clean(m.typing.text)
	for room := m.width - 24; cells(text) > max(10, room); {
		text = text[1:]
		for len(text) > 0 && text[0]&0xc0 == 0x80 {
			text = text[1:]
		}
	}
	return text
}

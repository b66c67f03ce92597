package watch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
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
	if m.typing && m.width >= leastWidth && m.height >= leastHeight {
		v.Cursor = tea.NewCursor(min(cells(m.prompt()), m.width-1), m.height-1)
	}
	return v
}

func (m *model) lines() []string {
	if m.width < leastWidth || m.height < leastHeight {
		lines := make([]string, m.height)
		lines[0] = "too small"
		return lines
	}
	var lines []string
	switch m.page {
	case helpPage:
		lines = m.paged([]string{m.titleLine()}, m.helpText())
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

func (m *model) titleLine() string {
	line := []string{m.paint(bold, "procfit")}
	if n := m.cpus(); n > 0 {
		line = append(line, phrase.Count(n, "CPU"))
	}
	line = append(line, "every "+number.Short(m.span(m.interval.Seconds())))
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

func (m *model) summary() string {
	if !m.seen {
		return "reading all processes" + m.more()
	}
	all := len(m.snap.Processes)
	text := m.paint(bold, phrase.Count(all, "Go process")) + fmt.Sprintf(" of %d", all+m.snap.Others+m.unlisted())
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
	if m.list.filter != "" && !m.typing {
		right = m.paint(cyan, "/"+m.clean(string(m.list.filter))) + fmt.Sprintf(" shows %d", len(m.list.shown))
	}
	return m.sides(text, right, m.width)
}

// problems is what the list does not show: a failed scan, and how many processes could
// not be read. Help has the reasons.
func (m *model) problems() string {
	if m.failed != nil {
		return m.paint(alarm, "the scan failed: "+m.clean(m.failed.Error()))
	}
	inferred := 0
	for _, p := range m.snap.Processes {
		if p.ProcsSource() == observe.Inferred {
			inferred++
		}
	}
	var parts []string
	if inferred > 0 {
		parts = append(parts, fmt.Sprintf("%d inferred", inferred))
	}
	if n := len(m.snap.Unreadable); n > 0 {
		parts = append(parts, fmt.Sprintf("%d not readable (press ?)", n))
	}
	return m.paint(faint, strings.Join(parts, m.dot()))
}

// unreadable is why processes could not be read, with how many each reason is of.
func (m *model) unreadable() (lines []string) {
	kinds := map[string]int{}
	for _, u := range m.snap.Unreadable {
		kinds[u.Summary()]++
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		lines = append(lines, m.wrap(phrase.Count(kinds[kind], "process")+": "+m.clean(kind), m.width, 0)...)
	}
	return lines
}

func (m *model) footer() string {
	if m.typing {
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
	text := "/" + m.clean(string(m.list.filter))
	return ansi.TruncateLeft(text, cells(text)-max(10, m.width-24), "")
}

func (m *model) helpText() []string {
	var lines []string
	section := func(title string, pairs ...[2]string) {
		lines = append(lines, m.bar(title))
		for _, p := range pairs {
			text := m.wrap(p[1], max(10, m.width-helpWidth), 0)
			for i, line := range text {
				lines = append(lines, m.paint(bold, m.pad(phrase.If(i == 0, p[0], ""), helpWidth, false))+line)
			}
		}
	}
	section("KEYS",
		[2]string{m.arrows() + " PgUp PgDn", "move the selection; also j k, Ctrl-B Ctrl-F, Home End, g G"},
		[2]string{"Enter", "show one process: its history, its findings, and why; Esc goes back"},
		[2]string{"/", "filter by name, PID, Go version or rule ID, or by column=word, for example set_by=env; !word excludes; Esc clears the filter"},
		[2]string{"s  <  >", "sort by the next column, or by the column to the left or right"},
		[2]string{"S", "reverse the sort order"},
		[2]string{"p  Space", "pause"},
		[2]string{"+  -", "make the interval longer or shorter"},
		[2]string{"r", "scan now, even if paused"},
		[2]string{"Ctrl-L  Ctrl-Z", "redraw the screen; suspend procfit"},
		[2]string{"q  Ctrl-C", "quit"},
	)
	var shown [][2]string
	for _, c := range columns {
		help := m.text(c.Help)
		if c.Name == inspect.Findings {
			help = "the worst finding: E (error), W (warning) or I (info), and its rule; procfit explain RULE describes it"
		}
		shown = append(shown, [2]string{c.Heading(), help})
	}
	section("COLUMNS", shown...)
	lines = append(lines, m.wrap("Values are for the last interval. In the first scan of a process they are faint and cover its whole life. A process that has ended stays in the list for "+phrase.Count(lingers, "scan")+". A wider terminal shows more columns.", m.width, 0)...)
	lines = append(lines, m.bar("COUNTERS"))
	lines = append(lines, m.wrap(m.counters(), m.width, 0)...)
	if why := m.unreadable(); why != nil {
		lines = append(append(lines, m.bar("NOT READABLE")), why...)
	}
	return lines
}

const helpWidth = 16

func (m *model) counters() string {
	switch {
	case !m.seen:
		return "not known yet"
	case m.snap.CountersWhy != nil:
		return fmt.Sprintf("Switches and waiting are read from each thread and miss threads that have ended: %s; with CAP_NET_ADMIN procfit uses taskstats, which is complete.",
			strings.TrimSpace(m.clean(m.snap.CountersWhy.Error())))
	}
	return "Switches and waiting include threads that have ended (" + m.clean(string(m.snap.Counters)) + ")."
}

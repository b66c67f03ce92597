package watch

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/show/phrase"
)

func (m *model) helpLines() []string {
	return m.paged([]string{m.titleLine()}, m.helpText())
}

// helpText is the keys, the columns and what their marks mean.
func (m *model) helpText() []string {
	var lines []string
	section := func(title string, pairs ...[2]string) {
		lines = append(lines, m.paint(heading, m.pad(title, m.width, false)))
		for _, p := range pairs {
			text := m.wrap(p[1], max(10, m.width-helpWidth), 0)
			for i, line := range text {
				key := ""
				if i == 0 {
					key = p[0]
				}
				lines = append(lines, m.paint(bold, m.pad(key, helpWidth, false))+line)
			}
		}
	}
	section("KEYS",
		[2]string{m.arrows() + " PgUp PgDn", "move; also j k, Ctrl-B Ctrl-F, Home End, g G"},
		[2]string{"Enter", "the history of a process, what was found, and why; Esc goes back"},
		[2]string{"/", "filter by words of name, PID, Go version and rule ID, or by column=word, as in set_by=env; !word leaves out; Esc clears"},
		[2]string{"s  <  >", "sort by the next column, or the one to the left or right"},
		[2]string{"S", "reverse the order"},
		[2]string{"p  Space", "pause"},
		[2]string{"+  -", "a longer or shorter interval"},
		[2]string{"r", "scan now, even while paused"},
		[2]string{"Ctrl-L  Ctrl-Z", "draw anew; suspend"},
		[2]string{"q  Ctrl-C", "quit"},
	)
	var shown [][2]string
	for _, c := range columns {
		help := m.text(c.Help)
		if c.Name == inspect.Findings {
			help = "the worst of them: E error, W warning, I info, and its rule; procfit explain tells more of one"
		}
		shown = append(shown, [2]string{c.Heading(), help})
	}
	section("COLUMNS", shown...)
	lines = append(lines, m.wrap("Figures are of the last interval; pale ones of the whole life of a process that was seen for the first time. A process that has ended stays for "+phrase.Count(lingers, "scan")+". More columns come with a wider terminal.", m.width, 0)...)
	lines = append(lines, m.paint(heading, m.pad("COUNTERS", m.width, false)))
	lines = append(lines, m.wrap(m.counters(), m.width, 0)...)
	return lines
}

const helpWidth = 16

func (m *model) counters() string {
	switch {
	case !m.seen:
		return "not known yet"
	case m.snap.CountersWhy != nil:
		return fmt.Sprintf("Switches and waiting are counted thread by thread, without those that have ended: %s; CAP_NET_ADMIN allows taskstats.",
			strings.TrimSpace(m.clean(m.snap.CountersWhy.Error())))
	}
	return "Switches and waiting are of all threads that there were (" + m.clean(string(m.snap.Counters)) + ")."
}

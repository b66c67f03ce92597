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

// helpText describes the keys, the columns and their marks.
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
		return fmt.Sprintf("Switches and waiting are read from each thread and miss threads that have ended: %s; with CAP_NET_ADMIN procfit uses taskstats, which is complete.",
			strings.TrimSpace(m.clean(m.snap.CountersWhy.Error())))
	}
	return "Switches and waiting include threads that have ended (" + m.clean(string(m.snap.Counters)) + ")."
}

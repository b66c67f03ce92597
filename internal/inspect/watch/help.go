package watch

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/show/phrase"
)

func (m *model) helpLines() []string {
	return append([]string{m.titleLine()}, m.scrolled(m.helpText(), m.height-2)...)
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
		[2]string{"/", "filter by words of name, PID, Go version and rule ID; !word leaves out; Esc clears"},
		[2]string{"s  <  >", "sort by the next column, or the one to the left or right"},
		[2]string{"S", "reverse the order"},
		[2]string{"p  Space", "pause"},
		[2]string{"+  -", "a longer or shorter interval"},
		[2]string{"r", "scan now, even while paused"},
		[2]string{"Ctrl-L  Ctrl-Z", "draw anew; suspend"},
		[2]string{"q  Ctrl-C", "quit"},
	)
	section("COLUMNS",
		[2]string{"PROCS", "GOMAXPROCS now, and how it was set: auto (the runtime's default), env, code. It was read from memory by the symbol table; with * it was decoded from the machine code of a stripped program; with ? it is inferred from version, environment and limits"},
		[2]string{"FIT", "the GOMAXPROCS that suits its CPUs, and why; or that PROCS fits"},
		[2]string{"CPU USE", "CPUs in use, on average"},
		[2]string{"NUMCPU", "what its runtime counted at its start (runtime.NumCPU)"},
		[2]string{"LIMIT", "the tightest CPU limit of all its groups, in CPUs; LIMIT OF: the group"},
		[2]string{"THROTTLED", "share of periods in which a limit held its group back"},
		[2]string{"SCHED P50, P99", "scheduling latency: how long goroutines that could run waited to"},
		[2]string{"WAITING", "threads that waited for a CPU, on average; those held back by a limit too"},
		[2]string{"SWITCH/s", "context switches a second, of all threads"},
		[2]string{"VERDICT", "the worst finding: E error, W warning, I info, and its rule; procfit explain tells more of one"},
	)
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

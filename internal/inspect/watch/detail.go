package watch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// steadyHeight is the height from which facts and curves stay while the rest scrolls.
const steadyHeight = 20

// detailLines are the lines of the page of one process, without the footer.
func (m *model) detailLines() []string {
	r := m.list.rows[m.detail]
	if r == nil {
		return m.paged([]string{m.titleLine()}, []string{"the process has ended"})
	}
	head, upper := []string{m.detailTitle(r)}, append(m.facts(r), m.curves(r)...)
	if m.height >= steadyHeight {
		return m.paged(append(head, upper...), m.story(r))
	}
	return m.paged(head, append(upper, m.story(r)...))
}

func (m *model) detailTitle(r *row) string {
	state := ""
	switch {
	case r.gone > 0:
		state = m.paint(alarm, " ENDED ")
	case m.failed != nil:
		state = m.paint(alarm, " SCAN FAILED ")
	case m.paused:
		state = m.paint(alarm, " PAUSED ")
	}
	if m.seen {
		state += " " + m.snap.At.Format("15:04:05")
	}
	name := m.paint(heading, fmt.Sprintf(" %d ", r.id.PID)) + " " + m.paint(bold, r.name)
	if s := rule.Worst(r.process.Findings); s != "" {
		name += "  " + m.paint(m.severity(s), r.process.Findings[0].Rule+" "+string(s))
	}
	return m.sides(name, state, m.width)
}

func (m *model) facts(r *row) []string {
	p := r.process
	var lines []string
	fact := func(name string, parts ...string) {
		text := strings.Join(parts, m.dot())
		lines = append(lines, m.paint(faint, m.pad(name, labelWidth, false))+m.clip(text, m.width-labelWidth))
	}
	value := "?"
	if n, known := p.Procs(); known {
		value = strconv.Itoa(n)
	}
	procs := []string{m.paint(bold, value) + " " + sourceWords(p), setByWords(p.Subject)}
	if r := inspect.Recommend(p.Subject); r.Known() {
		procs = append(procs, "recommended "+strconv.Itoa(r.Procs))
	}
	fact("GOMAXPROCS", procs...)
	fact("CPUs", m.cpuWords(p)...)
	runs := []string{phrase.Count(p.Threads, "thread")}
	if p.Recent == nil {
		runs = append(runs, "since it started:")
	}
	if v, known := p.Last().CPUs(); known {
		runs = append(runs, number.Hundredths(v)+" CPUs in use")
	}
	if v, known := p.Last().Switches(); known {
		runs = append(runs, number.Rate(v)+" switches/s")
	}
	if v, known := p.Last().LatencyAt(0.5); known {
		runs = append(runs, "latency p50 "+m.span(v))
	}
	fact(m.name(inspect.Release(&p)), runs...)
	return lines
}

func sourceWords(p observe.Process) string {
	switch p.ProcsSource() {
	case "":
		return "not known"
	case observe.Inferred:
		return "inferred, not read"
	}
	return "read from memory (" + p.ProcsSource() + ")"
}

func setByWords(s rule.Subject) string {
	switch s.SetBy {
	case rule.SetByAuto:
		return "the runtime's default"
	case rule.SetByEnv:
		return "set by env"
	case rule.SetByCode:
		return "set " + s.ByCall()
	case rule.SetByOutside:
		return "set from outside"
	}
	return "set by ? (not known)"
}

// cpuWords are the CPUs of a process. The path of the cgroup can be long, so it comes
// last and is shortened at its beginning.
func (m *model) cpuWords(p observe.Process) []string {
	var words []string
	if n := p.Facts.AffinityCPUs(); n > 0 {
		words = append(words, "affinity "+strconv.Itoa(n))
	}
	if p.NumCPU > 0 {
		words = append(words, "NumCPU "+strconv.Itoa(p.NumCPU))
	}
	l, ok := p.Facts.Tightest()
	switch {
	case ok:
		text := "limit " + number.BareLimit(l.CPUs, l.Burst.CPUs) + " of "
		room := m.width - labelWidth - cells(strings.Join(append(words, text), m.dot()))
		return append(words, text+m.clipLeft(m.clean(l.Dir), max(10, room)))
	case len(p.Facts.Unknown()) > 0:
		return append(words, "limit not known")
	}
	return append(words, "no limit")
}

const labelWidth = 16

// maxExplained is how much of an explanation is shown, in bytes.
const maxExplained = 256 << 10

func (m *model) story(r *row) []string {
	var lines []string
	if len(r.process.Findings) > 0 {
		lines = append(lines, m.bar(columns[findingsColumn].Heading()))
	}
	for _, shared := range inspect.ByFix(r.process.Findings) {
		for _, f := range shared {
			for j, line := range m.wrap(fmt.Sprintf("%s %s: %s", f.Rule, f.Severity, m.clean(f.Message)), m.width, 2) {
				if j == 0 { // no line breaks before the end of the ID
					line = m.paint(m.severity(f.Severity), line[:min(len(line), len(f.Rule))]) + line[min(len(line), len(f.Rule)):]
				}
				lines = append(lines, line)
			}
		}
		for _, line := range inspect.Remedies(shared) {
			lines = append(lines, m.wrap("  "+m.fix()+m.clean(line), m.width, 2)...)
		}
	}
	lines = append(lines, m.bar("WHY"))
	switch {
	case m.explained != "":
		for line := range strings.SplitSeq(strings.TrimRight(m.explained[:min(len(m.explained), maxExplained)], "\n"), "\n") {
			lines = append(lines, m.wrap(m.clean(line), m.width, 2)...)
		}
	case r.gone > 0:
		lines = append(lines, m.paint(faint, "it has ended"))
	default:
		lines = append(lines, m.paint(faint, "reading"+m.more()))
	}
	return lines
}

// paged are the head of a page and its scrolled body, with a mark if there is more.
func (m *model) paged(head, body []string) []string {
	m.pager.height, m.pager.lines = max(0, m.height-1-len(head)), len(body)
	m.pager.scroll(0)
	shown := slices.Clone(body[m.pager.top:m.pager.end()])
	if below := len(body) - m.pager.end(); below > 0 && len(shown) > 0 {
		last := &shown[len(shown)-1]
		*last = m.sides(*last, m.paint(faint, fmt.Sprintf("%d more %s", below, m.down())), m.width)
	}
	return append(head, shown...)
}

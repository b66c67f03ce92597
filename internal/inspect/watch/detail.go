package watch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/inspect/ps"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// steadyHeight is from which on facts and curves stay while the rest scrolls.
const steadyHeight = 20

// detailLines are those of the page of one process but the footer.
func (m *model) detailLines() []string {
	head, body := m.detailParts()
	return append(head, m.scrolled(body, m.height-1-len(head))...)
}

// detailParts are what stays and what scrolls.
func (m *model) detailParts() (head, body []string) {
	r := m.list.rows[m.detail]
	if r == nil {
		return []string{m.titleLine()}, []string{"the process is gone"}
	}
	head = []string{m.detailTitle(r)}
	upper := append(m.facts(r), m.curves(r)...)
	if m.height >= steadyHeight {
		head = append(head, upper...)
	} else {
		body = upper
	}
	return head, append(body, m.story(r)...)
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
	name := m.paint(heading, fmt.Sprintf(" %d ", r.id.pid)) + " " + m.paint(bold, r.name)
	if s := rule.Worst(r.process.Findings); s != "" {
		name += "  " + m.paint(m.severity(s), r.process.Findings[0].Rule+" "+string(s))
	}
	return m.sides(name, state, m.width)
}

// facts are what is so now, in a few lines.
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
	procs := []string{m.paint(bold, value) + " " + sourceWords(p), setByWords(p.SetBy)}
	if v, known := fit(p); known {
		procs = append(procs, count(v)+" fits")
	}
	fact("GOMAXPROCS", procs...)
	fact("CPUs", m.cpuWords(p)...)
	runs := []string{phrase.Count(p.Threads, "thread")}
	if p.Recent == nil {
		runs = append(runs, "since it began:")
	}
	if v, known := cpu(p); known {
		runs = append(runs, number.Hundredths(v)+" CPUs in use")
	}
	if v, known := switches(p); known {
		runs = append(runs, number.Rate(v)+" switches/s")
	}
	if v, known := latency(0.5)(p); known {
		runs = append(runs, "latency p50 "+m.span(v))
	}
	fact(m.name(ps.Release(p)), runs...)
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

func setByWords(s rule.SetBy) string {
	switch s {
	case rule.SetByAuto:
		return "the runtime's default"
	case rule.SetByEnv, rule.SetByCode:
		return "set by " + string(s)
	}
	return "set by ?"
}

// cpuWords are what there is to run on; the path of the group may be long, so it
// comes last and loses its beginning.
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
		text := "limit " + number.BareCPUs(l.CPUs) + " of "
		room := m.width - labelWidth - cells(strings.Join(append(words, text), m.dot()))
		return append(words, text+m.clipLeft(m.clean(l.Dir), max(10, room)))
	case len(p.Facts.Unknown()) > 0:
		return append(words, "limit not known")
	}
	return append(words, "no limit")
}

// labelWidth is that of the labels at the left.
const labelWidth = 16

// maxExplained is the most of an explanation that is shown, in bytes.
const maxExplained = 256 << 10

// story is what was found, what to do, and the explanation.
func (m *model) story(r *row) []string {
	var lines []string
	section := func(text string) {
		lines = append(lines, m.paint(heading, m.pad(text, m.width, false)))
	}
	if findings := r.process.Findings; len(findings) > 0 {
		section("FINDINGS")
		for i, f := range findings {
			for j, line := range m.wrap(fmt.Sprintf("%s %s: %s", f.Rule, f.Severity, m.clean(f.Message)), m.width, 2) {
				if j == 0 { // no line break comes before the end of the ID
					line = m.paint(m.severity(f.Severity), line[:min(len(line), len(f.Rule))]) + line[min(len(line), len(f.Rule)):]
				}
				lines = append(lines, line)
			}
			if i+1 == len(findings) || findings[i+1].Fix != f.Fix { // else it is said once, below the last
				lines = append(lines, m.wrap("  "+m.fix()+m.clean(f.Fix), m.width, 2)...)
			}
		}
	}
	if m.options.Explain == nil {
		return lines
	}
	section("WHY")
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

// scrolled are the lines that the scroll position shows, and a mark where there
// are more.
func (m *model) scrolled(body []string, height int) []string {
	if height <= 0 {
		return nil
	}
	from := max(0, min(m.scroll, len(body)-height))
	shown := append([]string{}, body[from:min(len(body), from+height)]...)
	if below := len(body) - from - height; below > 0 {
		shown[height-1] = m.sides(shown[height-1], m.paint(faint, fmt.Sprintf("%d more %s", below, m.down())), m.width)
	}
	return shown
}

// bottom is how far the page can scroll, and paging by how much a key does.
func (m *model) bottom() int {
	head, body := m.parts()
	return max(0, len(body)-(m.height-1-head))
}

func (m *model) paging() int {
	if m.page == tablePage {
		return max(1, m.height-8)
	}
	head, _ := m.parts()
	return max(1, m.height-2-head)
}

func (m *model) parts() (head int, body []string) {
	if m.page == helpPage {
		return 1, m.helpText()
	}
	h, body := m.detailParts()
	return len(h), body
}

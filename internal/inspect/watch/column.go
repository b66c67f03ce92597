package watch

import (
	"cmp"
	"fmt"
	goversion "go/version"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/inspect/ps"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
)

// column is one of the table, and one order of it.
type column struct {
	name  string // to sort by, as procfit ps has it
	title string
	short string // title on a narrow terminal
	right bool
	most  int // columns of the terminal that it may take; 0: what the others leave
	drop  int // on a narrow terminal the highest goes first; 0 stays
	cell  func(look, *row) string

	// By one of these it is sorted, numbers that are known first and, but for
	// rising ones, the largest first.
	number func(observe.Process) (float64, bool)
	rising bool
	text   func(a, b *row) int

	counted bool // over the interval, or in the first scan over the life of the process
}

// wide is from which drop on a column is an extra: it needs a terminal that has
// room for it beside a verdict that can be read.
const wide = 20

var columns = []column{
	{name: "pid", title: "PID", right: true, most: 10, cell: func(_ look, r *row) string { return strconv.Itoa(r.id.pid) },
		rising: true, number: func(p observe.Process) (float64, bool) { return float64(p.PID), true }},
	{name: "name", title: "NAME", cell: func(_ look, r *row) string { return r.name },
		text: func(a, b *row) int { return cmp.Compare(a.name, b.name) }},
	{name: "go", title: "GO", most: 9, drop: 7, cell: goCell,
		text: func(a, b *row) int { return goversion.Compare(ps.Release(a.process), ps.Release(b.process)) }},
	{name: "procs", title: "PROCS", most: 9, drop: 1, cell: procsCell,
		number: func(p observe.Process) (float64, bool) { n, known := p.Procs(); return float64(n), known }},
	{name: "fit", title: "FIT", most: 18, drop: 3, cell: fitCell, number: fit},
	{name: "cpu", counted: true, title: "CPU USE", short: "CPU", right: true, most: 7, drop: 5, cell: numberCell(cpu, number.Hundredths), number: cpu},
	{name: "numcpu", title: "NUMCPU", right: true, most: 6, drop: 22, cell: numberCell(numCPU, count), number: numCPU},
	{name: "limit", title: "LIMIT", right: true, most: 6, drop: 9, cell: limitCell, rising: true, number: limit},
	{name: "limitfrom", title: "LIMIT OF", most: 24, drop: 24, cell: limitFromCell,
		text: func(a, b *row) int { return cmp.Compare(limitDir(a.process), limitDir(b.process)) }},
	{name: "threads", title: "THREADS", right: true, most: 7, drop: 20, cell: numberCell(threads, count), number: threads},
	{name: "switches", counted: true, title: "SWITCH/s", right: true, most: 8, drop: 23, cell: numberCell(switches, number.Rate), number: switches},
	{name: "throttled", counted: true, title: "THROTTLED", short: "THROT", right: true, most: 9, drop: 4, cell: numberCell(throttled, number.Share), number: throttled},
	{name: "p50", counted: true, title: "SCHED P50", right: true, most: 9, drop: 21, cell: spanCell(latency(0.5)), number: latency(0.5)},
	{name: "p99", counted: true, title: "SCHED P99", right: true, most: 9, drop: 6, cell: spanCell(latency(0.99)), number: latency(0.99)},
	{name: "wait", counted: true, title: "WAITING", right: true, most: 7, drop: 8, cell: numberCell(wait, number.Hundredths), number: wait},
	{name: "findings", title: "VERDICT", drop: 2, cell: func(l look, r *row) string { return r.verdict(l) },
		text: func(a, b *row) int {
			return cmp.Or(cmp.Compare(a.severity(), b.severity()), cmp.Compare(a.firstRule(), b.firstRule()))
		}},
}

// SortNames are the columns that a view can be sorted by, the first the default.
func SortNames() []string {
	names := []string{"findings"}
	for _, c := range columns {
		if c.name != names[0] {
			names = append(names, c.name)
		}
	}
	return names
}

func columnOf(name string) int {
	return slices.IndexFunc(columns, func(c column) bool { return c.name == name })
}

// compare orders two rows; what is not known comes last either way.
func (c column) compare(a, b *row, reverse bool) int {
	if c.number == nil {
		if reverse {
			a, b = b, a
		}
		return c.text(a, b)
	}
	x, known := c.number(a.process)
	y, too := c.number(b.process)
	switch {
	case known && !too:
		return -1
	case !known && too:
		return 1
	case c.rising == reverse:
		return cmp.Compare(y, x)
	}
	return cmp.Compare(x, y)
}

// fill writes the cells anew.
func (r *row) fill(l look) {
	if r.cells == nil {
		r.cells = make([]string, len(columns))
	}
	for i, c := range columns {
		r.cells[i] = c.cell(l, r)
	}
}

func numberCell(of func(observe.Process) (float64, bool), text func(float64) string) func(look, *row) string {
	return func(l look, r *row) string {
		if v, known := of(r.process); known {
			return text(v)
		}
		return l.dash()
	}
}

// count is a whole number.
func count(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

// span is a time, given in seconds.
func (l look) span(seconds float64) string {
	text := number.Seconds(seconds)
	if l.ascii {
		text = strings.Replace(text, "µs", "us", 1)
	}
	return text
}

func spanCell(of func(observe.Process) (float64, bool)) func(look, *row) string {
	return func(l look, r *row) string { return numberCell(of, l.span)(l, r) }
}

func fit(p observe.Process) (float64, bool) {
	return float64(p.Fit.Procs), p.Facts.EffectiveCPUs() > 0
}

func numCPU(p observe.Process) (float64, bool)   { return float64(p.NumCPU), p.NumCPU > 0 }
func threads(p observe.Process) (float64, bool)  { return float64(p.Threads), true }
func cpu(p observe.Process) (float64, bool)      { return p.Last().CPUs() }
func switches(p observe.Process) (float64, bool) { return p.Last().Switches() }
func wait(p observe.Process) (float64, bool)     { return p.Last().Waiting() }

// fitCell is what procfit ps shows.
func fitCell(l look, r *row) string {
	text := ps.Fit(r.process)
	if l.ascii {
		text = strings.Replace(text, "→", "->", 1)
	}
	return text
}

func limit(p observe.Process) (float64, bool) {
	l, ok := p.Facts.Tightest()
	return l.CPUs, ok
}

func throttled(p observe.Process) (float64, bool) {
	if t := p.Last().Throttling; t != nil {
		return t.Ratio(), true
	}
	return 0, false
}

func latency(q float64) func(observe.Process) (float64, bool) {
	return func(p observe.Process) (float64, bool) { return p.Last().LatencyAt(q) }
}

func goCell(l look, r *row) string {
	if v := strings.TrimPrefix(ps.Release(r.process), "go"); v != "" {
		return l.name(v)
	}
	return l.dash()
}

// procsCell is the value, a mark for how it is known, and how it was set. One that
// was read by the symbol table has no mark.
func procsCell(_ look, r *row) string {
	p := r.process
	n, known := p.Procs()
	if !known {
		return "  ?"
	}
	mark := " "
	switch p.ProcsSource() {
	case observe.Inferred:
		mark = "?"
	case observe.Decoded:
		mark = "*"
	}
	return fmt.Sprintf("%3d%s%s", n, mark, setBy(p))
}

func setBy(p observe.Process) string {
	if p.SetBy == rule.SetByUnknown {
		return ""
	}
	return string(p.SetBy)
}

func limitCell(l look, r *row) string {
	v, ok := limit(r.process)
	switch {
	case ok:
		return number.BareCPUs(v)
	case len(r.process.Facts.Unknown()) > 0:
		return "?"
	}
	return l.dash()
}

func limitDir(p observe.Process) string {
	l, _ := p.Facts.Tightest()
	return l.Dir
}

func limitFromCell(l look, r *row) string {
	if dir := limitDir(r.process); dir != "" {
		return l.clean(path.Base(dir))
	}
	return l.dash()
}

// longCell is more than any terminal shows of one.
const longCell = 500

// verdict is the first finding, the worst, in short.
func (r *row) verdict(l look) string {
	switch f := r.process.Findings; {
	case r.gone > 0:
		return "ended"
	case len(f) > 0:
		m := f[0].Message
		return l.clean(fmt.Sprintf("%s %s %s", strings.ToUpper(string(f[0].Severity[:1])), f[0].Rule, m[:min(len(m), longCell)]))
	case r.judged():
		return "fits"
	}
	return "cannot tell"
}

// judged tells that having no finding means something.
func (r *row) judged() bool {
	_, known := r.process.Procs()
	return known && len(r.process.Facts.Unknown()) == 0
}

// severity is the place of the worst finding among the severities; after them
// what cannot be told, then what fits.
func (r *row) severity() int {
	switch f := r.process.Findings; {
	case len(f) > 0:
		return rule.Worst(f).Rank()
	case !r.judged():
		return len(rule.Severities())
	}
	return len(rule.Severities()) + 1
}

func (r *row) firstRule() string {
	if len(r.process.Findings) == 0 {
		return ""
	}
	return r.process.Findings[0].Rule
}

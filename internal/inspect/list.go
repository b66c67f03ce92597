package inspect

import (
	"cmp"
	"fmt"
	goversion "go/version"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

// The names of columns that some views draw in their own way.
const (
	Name     = "name"
	Findings = "findings"

	Recommended = "recommended"
	Expected    = "expected"
)

// The widest texts in a table, in columns of the terminal.
const (
	longName  = 24
	shortName = 12
	longGo    = 16
	longGroup = 20
)

// list has everything about a process. The value of a column is in its unit, except for
// shares, which are between 0 and 1.
func list() []Column {
	return slices.Concat([]Column{
		{Name: "pid", Help: "process ID", Rising: true, Unit: number.Exact,
			Value: func(p *observe.Process) any { return float64(p.PID) }},
		{Name: Name, Help: "name of the program", Rising: true,
			Value: func(p *observe.Process) any { return p.Name },
			words: func(p *observe.Process) string { return clip(shownName(p), longName) },
			short: func(p *observe.Process) string { return clip(shownName(p), shortName) }},
		{Name: "mapped", // the Go library or program of a process whose executable is not Go's
			Value: func(p *observe.Process) any { return known(p.Mapped, p.Mapped != "") }},
		{Name: "go", Help: "Go release that built the program", Rank: 8, Rising: true, words: release,
			Value: func(p *observe.Process) any { return known(p.Facts.GoVersion, p.Facts.GoVersion != "") },
			order: func(a, b *observe.Process) int { return goversion.Compare(Release(a), Release(b)) }},
		{Name: "procs", Help: "GOMAXPROCS now; *: decoded, ?: inferred, see SOURCE", Rank: 1, Unit: number.Exact, words: procs,
			Value: func(p *observe.Process) any { n, ok := p.Procs(); return known(float64(n), ok) }},
		{Name: "procs_unknown", // why it could not be read
			Value: func(p *observe.Process) any { return known(p.LiveUnknown, p.LiveUnknown != "") }},
		{Name: Recommended, Help: `ok, or the GOMAXPROCS that it should use, and why: "→ 1, limit 0.5", "→ 8, all CPUs"`, Rank: 3,
			Value: func(p *observe.Process) any { r := Recommend(p.Subject); return known(float64(r.Procs), r.Known()) },
			words: func(p *observe.Process) string { return Recommend(p.Subject).String() },
			short: func(p *observe.Process) string { return Recommend(p.Subject).short() }},
		{Name: Expected, Help: "GOMAXPROCS that a measurement decided, kept with the program; shown if any has one", Rank: 18, Unit: number.Exact, Rare: true,
			Value: func(p *observe.Process) any {
				x := cmp.Or(p.Expected, &rule.Expected{})
				return known(float64(x.Procs), p.Expected != nil)
			}},
		{Name: Recommended + "_from", Value: recommendedFrom},
		{Name: Recommended + "_cpus",
			Value: func(p *observe.Process) any {
				r := Recommend(p.Subject)
				return known(r.from.CPUs, r.Known() && !r.measured)
			}},
		{Name: "cpu_use", Help: "CPUs in use, on average", Rank: 5, Unit: number.Hundredths, Counted: true,
			Value: func(p *observe.Process) any { return known(p.Last().CPUs()) }},
		{Name: "set_by", Help: "what set GOMAXPROCS: auto (the runtime's default), env, code (automaxprocs is code, too), or outside (procfit set, a debugger); not known is - in the table, and unknown in JSON", Rank: 6, Rising: true, words: setBy,
			Value: func(p *observe.Process) any { return string(p.SetBy) }},
		{Name: "set_until", // when procfit is to give the old value back
			Value: func(p *observe.Process) any {
				return known(p.LentUntil.UTC().Format(time.RFC3339), !p.LentUntil.IsZero())
			}},
		{Name: "source", Help: "how PROCS was found: symbol (by the symbol table), decoded (from the machine code of a stripped program), or inferred (from version, environment and limits; its memory is not readable)", Rank: 15, Rising: true,
			Value: func(p *observe.Process) any { return known(p.ProcsSource(), p.ProcsSource() != "") }},
		{Name: "numcpu", Help: "CPUs that its runtime counted at start (runtime.NumCPU)", Rank: 13, Unit: number.Exact,
			Value: func(p *observe.Process) any { return known(float64(p.NumCPU), p.NumCPU > 0) }},
		{Name: "limit", Help: "tightest CPU limit of its cgroup and all parent cgroups, in CPUs; 2+0.5: with a burst of 0.5; ?: one could not be read", Rank: 10, Rising: true, Unit: number.BareCPUs, words: limit,
			Value: func(p *observe.Process) any { l, ok := p.Facts.Tightest(); return known(l.CPUs, ok) }},
		{Name: "limit_of", Help: "cgroup that has the tightest CPU limit", Rank: 16, Rising: true, words: limitOf,
			Value: func(p *observe.Process) any { l, ok := p.Facts.Tightest(); return known(l.Dir, ok) }},
		{Name: "limit_file",
			Value: func(p *observe.Process) any { l, ok := p.Facts.Tightest(); return known(l.File, ok) }},
		{Name: "limit_burst", Value: func(p *observe.Process) any { return known(Burst(p)) }},
	}, counted(), []Column{
		{Name: "threads", Help: "number of threads", Rank: 11, Unit: number.Exact,
			Value: func(p *observe.Process) any { return float64(p.Threads) }},
		{Name: Findings, Help: "rules that matched; procfit explain PF001 describes one", Rank: 2, Rising: true, order: worstFirst,
			Value: func(p *observe.Process) any { return p.Findings },
			words: func(p *observe.Process) string { return strings.Join(rule.IDs(p.Findings), " ") },
			short: shortFindings},
	})
}

// counted has what was counted over the interval, of waiting and of being held back.
func counted() []Column {
	return []Column{
		{Name: "sched_p50", Help: "scheduling latency, median: how long runnable goroutines waited to run; not known before Go 1.20", Rank: 12, Unit: number.Seconds, Counted: true,
			Value: func(p *observe.Process) any { return known(p.Last().LatencyAt(0.5)) }},
		{Name: "sched_p99", Help: "scheduling latency, 99th percentile; not known before Go 1.20", Rank: 7, Unit: number.Seconds, Counted: true,
			Value: func(p *observe.Process) any { return known(p.Last().LatencyAt(0.99)) }},
		{Name: "waiting", Help: "threads waiting for a CPU, on average, including throttled ones", Rank: 9, Unit: number.Hundredths, Counted: true, Threads: true,
			Value: func(p *observe.Process) any { return known(p.Last().Waiting()) }},
		{Name: "run_queue_wait_seconds",
			Value: func(p *observe.Process) any { return known(p.Last().RunQueueWait.Seconds(), p.Last().Counted) }},
		{Name: "fault_held_ps", Help: "Ps that waited for the disk in page faults, on average; shown if there are any", Rank: 17, Unit: number.Hundredths, Counted: true, Rare: true, words: held,
			Value: func(p *observe.Process) any { return known(p.HeldPs()) }},
		{Name: "major_faults_per_second",
			Value: func(p *observe.Process) any { return known(p.Last().FaultRate()) }},
		{Name: "throttled", Help: "percentage of periods in which its cgroup was throttled", Rank: 4, Unit: number.Share, Counted: true,
			Value: func(p *observe.Process) any { t, ok := throttling(p); return known(t.Ratio(), ok) }},
		{Name: "throttled_seconds", Value: func(p *observe.Process) any { t, ok := throttling(p); return known(t.Throttled.Seconds(), ok) }},
		{Name: "bursts", Value: func(p *observe.Process) any { t, ok := throttling(p); return known(float64(t.Bursts), ok) }},
		{Name: "burst_seconds", Value: func(p *observe.Process) any { t, ok := throttling(p); return known(t.Burst.Seconds(), ok) }},
		{Name: "switches", Help: "context switches per second, of all threads", Rank: 14, Unit: number.Rate, Counted: true, Threads: true,
			Value: func(p *observe.Process) any { return known(p.Last().Switches()) }},
	}
}

func recommendedFrom(p *observe.Process) any {
	r := Recommend(p.Subject)
	if r.measured {
		return "measured"
	}
	return known(string(r.from.What), r.Known())
}

// shownName is the name of the process with that of the Go library that it has mapped; of a loader, the name
// of its program.
func shownName(p *observe.Process) string {
	switch {
	case p.Mapped == "":
		return phrase.Clean(p.Name)
	case p.Library:
		return phrase.Clean(p.Name) + ": " + phrase.Clean(p.Mapped)
	}
	return phrase.Clean(p.Mapped)
}

func known[T any](v T, ok bool) any {
	if !ok {
		return nil
	}
	return v
}

// procs is the value after a mark that shows how it was found; there is none for the
// symbol table.
func procs(p *observe.Process) string {
	n, ok := p.Procs()
	if !ok {
		return Unknown
	}
	mark := map[string]string{observe.Inferred: "?", observe.Decoded: "*"}
	return fmt.Sprintf("%s%d", mark[p.ProcsSource()], n)
}

func setBy(p *observe.Process) string {
	if p.SetBy == rule.SetByUnknown {
		return Unknown
	}
	return string(p.SetBy) + p.Lent()
}

// limit is the tightest known limit. A mark before it shows that a tighter one may exist.
func limit(p *observe.Process) string {
	mark := phrase.If(len(p.Facts.Unknown()) > 0, "?", "")
	if l, ok := p.Facts.Tightest(); ok {
		return mark + number.BareLimit(l.CPUs, l.Burst.CPUs)
	}
	return cmp.Or(mark, Unknown)
}

// Burst is the burst of a process's tightest limit, in CPUs of one period; 0: it has none.
func Burst(p *observe.Process) (cpus float64, known bool) {
	l, ok := p.Facts.Tightest()
	return l.Burst.CPUs, ok && l.Burst.State == facts.Known
}

// limitOf is the last element of the cgroup's path, shortened at its beginning, where the
// names of cgroups are often the same.
func limitOf(p *observe.Process) string {
	l, ok := p.Facts.Tightest()
	if !ok {
		return Unknown
	}
	name := phrase.Clean(path.Base(l.Dir))
	if w := ansi.StringWidth(name); w > longGroup {
		return ansi.TruncateLeft(name, w-longGroup+1, "…")
	}
	return name
}

// FewestHeld is how many Ps page faults hold at least to be shown.
const FewestHeld = 0.01

// held is the text of few Ps as of none.
func held(p *observe.Process) string {
	ps, ok := p.HeldPs()
	if !ok || ps < FewestHeld {
		return Unknown
	}
	return number.Hundredths(ps)
}

func throttling(p *observe.Process) (t rule.Throttling, known bool) {
	if p.Throttling == nil || p.Throttling.Periods == 0 {
		return t, false
	}
	return *p.Throttling, true
}

// Release is the Go version of the program without the suffix of its toolchain.
func Release(p *observe.Process) string {
	v, _, _ := strings.Cut(p.Facts.GoVersion, " ")
	return v
}

func release(p *observe.Process) string {
	return cmp.Or(clip(phrase.Clean(strings.TrimPrefix(Release(p), "go")), longGo), Unknown)
}

func shortFindings(p *observe.Process) string {
	ids := rule.IDs(p.Findings)
	if len(ids) < 2 {
		return strings.Join(ids, "")
	}
	return fmt.Sprintf("%s +%d", ids[0], len(ids)-1)
}

func clip(s string, most int) string { return ansi.Truncate(s, most, "…") }

// Recommendation is the GOMAXPROCS that a program should use. A good value that it uses is kept.
type Recommendation struct {
	Procs  int             // 0: not known
	AtMost bool            // not all limits could be read, so that the value may be too high
	from   facts.Candidate // what it follows from, if Procs is known and not measured
	runs   int             // the value that the program uses; 0: not known

	affinity bool // it may run only on some of the CPUs
	measured bool // it is the expected value, which a measurement decided for these CPUs
}

// Recommend returns the value for a program.
func Recommend(s rule.Subject) Recommendation {
	r := Recommendation{AtMost: len(s.Facts.Unknown()) > 0}
	if n, known := s.Procs(); known {
		r.runs = n
	}
	if s.Measured() {
		if !r.AtMost { // else it is not known whether it still holds
			r.Procs, r.measured = s.Expected.Procs, true
		}
		return r
	}
	i := slices.IndexFunc(s.Fit.Candidates, func(c facts.Candidate) bool { return c.Winner })
	if i >= 0 && s.Facts.EffectiveCPUs() > 0 {
		r.Procs, r.from = s.Fit.Procs, s.Fit.Candidates[i]
		if s.Good() {
			r.Procs = r.runs
		}
		r.affinity = r.from.CPUs < s.Facts.Online.CPUs
	}
	return r
}

// Known reports whether Procs is the value, and not only an upper bound of it. For a program that uses
// more than that bound it is the value to set until all limits can be read.
func (r Recommendation) Known() bool { return r.Procs > 0 && (!r.AtMost || r.runs > r.Procs) }

// Judged reports whether the absence of findings means that the value is good.
func (r Recommendation) Judged() bool { return r.runs > 0 && !r.AtMost }

// String is the value and what it follows from: "→ 1, limit 0.5". If the program uses
// that value, it is "ok".
func (r Recommendation) String() string {
	switch text := r.short(); {
	case r.AtMost || r.Procs == 0 || r.runs == r.Procs:
		return text
	case r.measured:
		return text + ", measured"
	case r.from.What == facts.KindLimit:
		return text + ", limit " + number.BareCPUs(r.from.CPUs)
	case r.affinity:
		return text + ", affinity"
	default:
		return text + ", all CPUs"
	}
}

// short is String without the reason.
func (r Recommendation) short() string {
	switch {
	case r.AtMost || r.Procs == 0:
		return "?"
	case r.runs == r.Procs:
		return "ok"
	case r.runs == 0:
		return strconv.Itoa(r.Procs)
	}
	return "→ " + strconv.Itoa(r.Procs)
}

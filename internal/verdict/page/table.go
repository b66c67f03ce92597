package page

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/stat"
)

func cell(u number.Unit, i stat.Interval) document.Cell {
	return document.Cell{Value: maybe(i.Median, u.Number), Detail: brackets(u, i)}
}

// about marks the number of a row that is an estimate.
func about(a *verdict.Row, c document.Cell) document.Cell {
	if isSliced(a) && c.Value != absent {
		c.Value = "~" + c.Value
	}
	return c
}

// below marks the lowest rate that was tried, if that missed the objective too.
func below(a *verdict.Row, c document.Cell) document.Cell {
	if a.Unmet && c.Value != absent {
		c.Value = "below " + c.Value
	}
	return c
}

type column struct {
	head document.Column
	cell func(*verdict.Row) document.Cell
}

// table is one row a setting, without the columns whose values are not known.
func (g *group) table(columns []column) document.Table {
	t := document.Table{Rows: phrase.Each(g.rows, func(a *verdict.Row) document.Row { return document.Row{Mark: g.mark(a, "")} })}
	for _, c := range columns {
		cells := phrase.Each(g.rows, c.cell)
		if !slices.ContainsFunc(cells, func(c document.Cell) bool { return c.Value != absent }) {
			continue
		}
		t.Columns = append(t.Columns, c.head)
		for i := range cells {
			t.Rows[i].Cells = append(t.Rows[i].Cells, cells[i])
		}
	}
	return t
}

func (g *group) figureColumns() []column {
	seconds, versus := number.Time(), "Compared with the peak"
	if g.runs() { // times are next to it
		versus = "Runs per second, compared with the peak"
	}
	return []column{
		g.valueColumn(),
		{document.Column{Head: "Result", Short: "result", Left: true}, g.standing},
		{g.throughputColumn(), func(a *verdict.Row) document.Cell { return about(a, below(a, cell(g.unit(), g.asShown(a.Throughput)))) }},
		{g.speedupColumn(), func(a *verdict.Row) document.Cell { return about(a, document.Cell{Value: maybe(a.Speedup, timesText)}) }},
		{document.Column{Head: versus}, func(a *verdict.Row) document.Cell {
			if g.gateAlone { // a table of its own compares them
				return document.Cell{Value: absent}
			}
			return difference(a.VersusPeak)
		}},
		{document.Column{Head: "p50", Short: "p50"}, func(a *verdict.Row) document.Cell { return cell(seconds, a.P50) }},
		{document.Column{Head: g.Latency.Name(), Short: g.Latency.Name()}, func(a *verdict.Row) document.Cell {
			if !g.other() || g.Latency.Quantile == 0.5 {
				return document.Cell{Value: absent}
			}
			return cell(seconds, a.Judged)
		}},
		{document.Column{Head: "p99", Short: "p99"}, func(a *verdict.Row) document.Cell { return cell(seconds, a.P99) }},
		{document.Column{Head: "No response", Short: "no resp."}, func(a *verdict.Row) document.Cell {
			if a.Unanswered == 0 {
				return document.Cell{Value: absent}
			}
			return document.Cell{Value: strconv.FormatInt(a.Unanswered, 10)}
		}},
		{document.Column{Head: "Valid trials"}, g.trialsCell},
	}
}

func (g *group) kernelColumns() []column {
	seconds, share, rate, few := number.Time(), number.Ratio(), number.PerSecond(""), number.Plain("").Digits(2)
	return []column{
		{document.Column{Head: "CPUs used", Short: "CPU"}, func(a *verdict.Row) document.Cell {
			c := document.Cell{Value: maybe(a.Evidence.CPUs, few.Number)}
			if user, system := a.Evidence.UserCPUs, a.Evidence.SystemCPUs; user != nil && system != nil {
				c.Detail = few.Number(*user) + " user + " + few.Number(*system) + " system"
			}
			return c
		}},
		{document.Column{Head: "CPUs used by the program next to it"}, func(a *verdict.Row) document.Cell {
			return document.Cell{Value: maybe(a.Evidence.BesideCPUs, few.Number)}
		}},
		{document.Column{Head: "CPU per request"}, func(a *verdict.Row) document.Cell {
			if g.ThroughputUnit != "requests" {
				return document.Cell{Value: absent}
			}
			c := document.Cell{Value: maybe(a.Evidence.CPUSecondsEach, seconds.Number)}
			if o := a.OpenEvidence; o != nil && o.CPUSecondsEach != nil {
				c.Detail = seconds.Number(*o.CPUSecondsEach) + " in the latency phase"
			}
			return c
		}},
		{document.Column{Head: "Switches/s (voluntary + involuntary)"}, func(a *verdict.Row) document.Cell {
			v, i := a.Evidence.VoluntaryPerSecond, a.Evidence.InvoluntaryPerSecond
			if v == nil || i == nil {
				return document.Cell{Value: absent}
			}
			return document.Cell{Value: rate.Number(*v + *i), Detail: rate.Number(*v) + " + " + rate.Number(*i)}
		}},
		{document.Column{Head: "Threads waiting for a CPU"}, func(a *verdict.Row) document.Cell {
			return document.Cell{Value: maybe(a.Evidence.RunQueueWaitRatio, few.Number)}
		}},
		{document.Column{Head: "Ps held by page faults"}, faultCell},
		{document.Column{Head: "Throttled periods", Short: "throttled"}, func(a *verdict.Row) document.Cell {
			c := document.Cell{Value: maybe(a.Evidence.ThrottledPeriodsRatio, share.Number)}
			if s := a.Evidence.ThrottledRatio; s != nil && *s > 0 {
				c.Detail = few.Number(*s) + " s/s per replica"
			}
			if b := a.Evidence.BurstPeriodsRatio; b != nil {
				c.Detail = strings.TrimPrefix(c.Detail+", burst used in "+share.Number(*b), ", ")
			}
			return c
		}},
	}
}

func faultCell(a *verdict.Row) document.Cell {
	const fewestHeld = 0.01 // Ps
	h := a.Evidence.FaultHeldPs
	if h == nil || *h < fewestHeld {
		return document.Cell{Value: absent}
	}
	c := document.Cell{Value: number.Plain("").Digits(2).Number(*h)}
	if f := a.Evidence.MajorFaultsPerSecond; f != nil {
		c.Detail = number.PerSecond("").Number(*f) + " faults/s"
	}
	return c
}

func (g *group) levels() string {
	medians := phrase.If(g.Latency.Quantile == 0 && g.LatencyMode != "", "latency and kernel counters", "kernel counters")
	return "The level of each value over the whole run, with its 95% interval; " + medians + " are medians."
}

// standing is what a setting came to: what has no part in the judgement is marked, with
// why. A value above the CPUs that the load shares is compared by its throughput alone.
func (g *group) standing(a *verdict.Row) (c document.Cell) {
	shared := a.Excluded != nil && *a.Excluded == contest.ExcludedShared
	if shared {
		c.Detail = "its " + g.Latency.Name() + " is not compared: it is above the number of CPUs, and the load generator uses the same CPUs"
	}
	switch {
	case a.Variant != "" || g.gateAlone || g.Peak == "":
		return document.Cell{Value: absent}
	case isSliced(a):
		return slicedStanding(a.Sliced)
	case a.Excluded != nil && !shared:
		return g.leftOut(a)
	case a.Later:
		return document.Cell{Value: g.Latency.Name() + " worse", Detail: "proven, compared with the lowest"}
	case g.row(g.Peak) == a && g.Recommendation.Verdict != verdict.Undecided: // where nothing is proven, it only looks so
		c.Value = "fastest"
	case a.NonInferior.Throughput != nil && *a.NonInferior.Throughput:
		c.Value = asFast
	case g.Recommendation.Verdict == verdict.KeepDefault && g.Recommendation.Confidence == verdict.Proven: // which all rows share
		c.Value = "no faster"
	default:
		c.Value = "undecided"
	}
	return c
}

func (g *group) trialsCell(a *verdict.Row) document.Cell {
	c := document.Cell{Value: strconv.Itoa(a.Trials)}
	var details []string
	if isSliced(a) {
		details = append(details, phrase.Count(a.Sliced.Slices, "slice"))
	}
	if a.Invalid > 0 {
		details = append(details, fmt.Sprintf("%d invalid", a.Invalid))
	}
	if a.Missed > 0 {
		details = append(details, fmt.Sprintf("%d missed --slo", a.Missed))
	}
	switch {
	case g.Latency.Quantile == 0 || a.P99.Median == nil:
	case a.Judged.Median == nil && g.r.Gate != nil: // which compares pairs
	case a.Judged.Median == nil:
		details = append(details, "latency not compared")
	case a.Judged.N < a.Trials:
		details = append(details, fmt.Sprintf("latency from %d", a.Judged.N))
	}
	c.Detail = phrase.Semicolons(details)
	return c
}

func (g *group) speedupColumn() document.Column {
	base := firstOf(g.rows, func(a *verdict.Row) bool { // by procs
		return a.Variant == "" && a.Procs != nil && a.Speedup != nil && !isSliced(a)
	})
	if base == nil {
		return document.Column{Head: "Speed-up", Short: "×"}
	}
	n := strconv.Itoa(*base.Procs)
	return document.Column{Head: "Speed-up over " + n, Short: "× of " + n}
}

func (g *group) throughputColumn() document.Column {
	c := document.Column{Head: phrase.Capital(g.throughputName()), Short: "throughput", Detailed: true}
	switch {
	case g.Benchmarks != nil:
		c.Head = "Geometric mean"
	case g.runs():
		c.Short = "per run"
	}
	if u := g.unit().Name(); u != "" {
		c.Head, c.Short = c.Head+", "+u, u
	}
	return c
}

// mark is a word on a setting's standing; metric narrows a trade-off to one side.
func (g *group) mark(a *verdict.Row, metric string) string {
	rec := g.Recommendation
	if a.Variant != "" {
		return ""
	}
	if rec.Verdict == verdict.TradeOff {
		switch {
		case g.row(rec.BestThroughput) == a && metric != "p99":
			return "best throughput"
		case g.row(rec.BestP99) == a && metric != "throughput":
			return "best " + g.quantile()
		}
		return ""
	}
	if c := g.chosen(); c != nil && c == a {
		return phrase.If(rec.Confidence == verdict.Likely, "likely", called(&rec).mark)
	}
	return ""
}

// metricsTable leaves out the metric that is the throughput.
func (g *group) metricsTable() document.Table {
	names := map[string]verdict.MetricInterval{}
	for _, a := range g.rows {
		for n, m := range a.Metrics {
			if ownTable := g.Benchmarks != nil && m.Unit == "ns/op"; !ownTable && n != g.ThroughputUnit {
				names[n] = m
			}
		}
	}
	if len(names) == 0 {
		return document.Table{}
	}
	columns := []column{g.valueColumn()}
	for _, n := range slices.Sorted(maps.Keys(names)) {
		head := phrase.Clip(n, nameRoom)
		if u := phrase.Clip(names[n].Unit, nameRoom); u != "" && u != head {
			head += ", " + u
		}
		if b := phrase.Clip(names[n].Better, nameRoom); b != "" {
			head += " (" + b + " is better)"
		}
		columns = append(columns, column{document.Column{Head: head, Short: phrase.Clip(n, nameRoom), Detailed: true}, func(a *verdict.Row) document.Cell {
			return cell(number.PerSecond(""), a.Metrics[n].Interval)
		}})
	}
	return g.table(columns)
}

// memoryDecides reports whether memory is more than what explains the metrics that decide.
func (g *group) memoryDecides() bool { return len(g.r.Plan.Vary) > 0 || g.r.Plan.MaxMemoryBytes > 0 }

func (g *group) memoryColumns() []column {
	share := number.Ratio()
	memory, collector := "", ""
	if g.memoryDecides() {
		memory, collector = "memory", "GC"
	}
	return []column{
		{document.Column{Head: "Peak memory", Short: memory}, func(a *verdict.Row) document.Cell {
			c := document.Cell{Value: memorySize(a.Evidence.PeakRSSBytes)}
			if now := a.Evidence.RSSBytes; now != nil {
				c.Detail = memorySize(now) + " at the end"
			}
			return c
		}},
		{document.Column{Head: "GC share of CPU time", Short: collector}, func(a *verdict.Row) document.Cell {
			e := &a.Evidence
			if e.GCCyclesPerSecond == nil {
				return document.Cell{Value: absent}
			}
			cycles := "no cycle"
			if *e.GCCyclesPerSecond > 0 {
				cycles = "one cycle every " + number.Seconds(1 / *e.GCCyclesPerSecond)
			}
			c := document.Cell{Value: maybe(e.GCBusyRatio, share.Number), Detail: cycles}
			if c.Value == absent { // of Go 1.19, or in a span without a whole cycle
				c.Value, c.Detail = c.Detail, ""
			}
			return c
		}},
	}
}

// facts are the numbers behind the verdict that no table has.
func (g *group) facts() (out document.Pairs) {
	share := number.Ratio()
	add := func(name, value string) { out = append(out, document.Pair{Name: name, Value: value}) }
	if n := g.Spread; n.Throughput != nil {
		add("Noise", fmt.Sprintf("%s between trials of one setting (%s of freedom)",
			inBoth(n.Throughput, n.P99, g.quantile()), phrase.CountOf(n.DF, "degree", "degrees")))
	} else {
		add("Noise", "unknown: too few trials can be compared")
	}
	if n := g.NoiseFloor; n.Throughput != nil || n.P99 != nil {
		add("Repeat of the default", fmt.Sprintf("two repeats of %s differed by up to %s, in %s (95%%)",
			g.settingText(n.Setting), inBoth(n.Throughput, n.P99, "p99"), phrase.Count(n.Pairs, "pair")))
	}
	margins := "throughput " + share.Number(g.r.Plan.Margin)
	if g.r.Plan.MarginP99 > 0 && g.Latency.Quantile > 0 {
		margins += ", " + g.quantile() + " " + share.Number(g.r.Plan.MarginP99)
	}
	add("Margins", margins+" (a value that is worse by less is equally good)")
	if w := g.Workload; w.TooFewCPUs {
		add("Workload", "unknown: "+g.words.others())
	} else if w.CPUUtilisation != nil {
		add("Workload", fmt.Sprintf("%s: %s of its CPUs used at %s", phrase.Clip(w.Kind, nameRoom), share.Number(*w.CPUUtilisation), g.settingText(w.Setting)))
	} else {
		add("Workload", phrase.Clip(w.Kind, nameRoom))
	}
	if o := g.Others; o.CPUs != nil && o.Of > 0 {
		add("Other programs", fmt.Sprintf("used %s of the %s that the target may use", shortNumber(math.Round(100**o.CPUs)/100, number.Digits), number.CPUs(float64(o.Of))))
	}
	return out
}

// inBoth is how far throughput and latency stray, of those that are known: "2.2% in throughput and 14% in p99".
func inBoth(throughput, latency *float64, quantile string) string {
	var parts []string
	if throughput != nil {
		parts = append(parts, strayed(*throughput)+" in throughput")
	}
	if latency != nil {
		parts = append(parts, strayed(*latency)+" in "+quantile)
	}
	return phrase.And(parts)
}

// requestsTable has a line for each request of a mix, and its p99 at each setting: in
// the percentiles of all a slow one hides behind the many.
func (g *group) requestsTable() (t document.Table) {
	var names []string
	at := map[string]map[int]verdict.RequestLatency{}
	for k, a := range g.rows {
		for _, one := range a.ByRequest {
			if at[one.Name] == nil {
				names = append(names, one.Name)
				at[one.Name] = map[int]verdict.RequestLatency{}
			}
			at[one.Name][k] = one
		}
	}
	if len(names) == 0 {
		return t
	}
	t.Columns = []document.Column{{Head: "request", Short: "request", Left: true}}
	for _, a := range g.rows {
		label, _ := settingLabel(a)
		t.Columns = append(t.Columns, document.Column{Head: "p99 at GOMAXPROCS " + settingName(a), Short: "p99 at " + label, Detailed: true})
	}
	for _, name := range names {
		row := document.Row{Cells: []document.Cell{{Value: phrase.Clip(name, nameRoom)}}}
		for k := range g.rows {
			row.Cells = append(row.Cells, requestCell(at[name][k]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// requestCell has the failures also of a request that has no latency, since all of it failed.
func requestCell(r verdict.RequestLatency) document.Cell {
	var details []string
	if r.P50.Median != nil {
		details = append(details, "p50 "+number.Seconds(*r.P50.Median))
	}
	if r.Errors > 0 {
		details = append(details, phrase.CountOf(r.Errors, "failed", "failed"))
	}
	return document.Cell{Value: maybe(r.P99.Median, number.Seconds), Detail: strings.Join(details, ", ")}
}

func (g *group) valueColumn() column {
	head := document.Column{Head: "GOMAXPROCS", Short: "procs", Left: true}
	if name := phrase.Clip(g.Compares, nameRoom); name != "" {
		head.Head, head.Short = name, name
	} else if g.gateAlone {
		head.Head, head.Short = "Version", "version"
	}
	return column{head, func(a *verdict.Row) document.Cell { return document.Cell{Value: settingName(a)} }}
}

package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// The thresholds that the checklist asks for.
const (
	settingsAsked = verdict.FewestSettings
	repeatsAsked  = verdict.FewestPairs
)

// checklist is the eight points to go through before touching GOMAXPROCS.
func (g *group) checklist() []document.Check {
	list := []document.Check{g.measured(), g.current(), g.numCPU(), g.equal(), g.tunedFor(), g.enough(), g.beforeAfter(), g.throttling()}
	for i := range list {
		list[i].Number = i + 1
	}
	return list
}

func (g *group) measured() document.Check {
	c := document.Check{Question: "Was it measured?", State: document.OK, Answer: "yes"}
	valid, invalid := 0, 0
	for _, a := range g.Settings {
		valid += a.Trials
		invalid += a.Invalid
	}
	if g.Origin == journal.OriginSim {
		c.State, c.Answer, c.Detail = document.Attention, "no", "these numbers are simulated; measure before you change anything"
		return c
	}
	if valid == 0 {
		c.State, c.Answer, c.Detail = document.Attention, "no", "no valid trial: measure first"
		return c
	}
	c.Detail = fmt.Sprintf("%s of %s%s", phrase.Count(valid, "valid trial"), phrase.Count(len(g.Settings), "setting"), inBlocks(g.r))
	if invalid > 0 {
		c.Detail += fmt.Sprintf("; %d more were invalid and are not used", invalid)
	}
	if !g.r.Complete {
		c.State, c.Answer = document.Attention, "in part"
		c.Detail += "; some planned trials are missing"
	}
	return c
}

func inBlocks(r *verdict.Result) string {
	if r.Plan.Racing() {
		return ", in random order within blocks of undecided settings"
	}
	return ", in random order within blocks of all settings"
}

func (g *group) current() document.Check {
	c := document.Check{Question: "What is the current value?", State: document.Unknown, Answer: "unknown"}
	a := g.unset()
	switch {
	case a == nil:
		c.Detail = "unset was not measured; add --procs unset to see the default"
	case a.Trials == 0:
		c.Detail = "unset has no valid trial"
	case a.ResolvedProcs == nil:
		c.Detail = "the default value could not be read from the target's memory"
	default:
		c.State, c.Answer = document.OK, strconv.Itoa(*a.ResolvedProcs)
		c.Detail = "with GOMAXPROCS unset, read from the target's memory"
		if s := phrase.Clean(a.ResolvedSource); s != "" {
			c.Detail += " (" + s + ")"
		}
	}
	return c
}

func (g *group) numCPU() document.Check {
	c := document.Check{Question: "What is NumCPU()?", State: document.OK}
	n := g.Default.NumCPU
	if n <= 0 {
		c.State, c.Answer, c.Detail = document.Unknown, "unknown", "the journal does not name the CPUs that the target may run on"
		return c
	}
	c.Answer, c.Detail = strconv.Itoa(n), "the CPUs that the target may run on; no Go version includes the CPU limit in NumCPU"
	return c
}

func (g *group) equal() document.Check {
	c := document.Check{Question: "Are they equal, and if not, why?", State: document.Unknown, Answer: "unknown", Detail: "one of the two is unknown"}
	d := g.Default
	if d.Procs == nil {
		return c
	}
	p, n, under := *d.Procs, d.NumCPU, "no CPU limit"
	if d.LimitCPUs < float64(n) {
		under = "a limit of " + number.CPUs(d.LimitCPUs)
	}
	switch d.Standing {
	case verdict.DefaultAll:
		c.State, c.Answer, c.Detail = document.OK, "yes", fmt.Sprintf("%d and %d, under %s", p, n, under)
	case verdict.DefaultFloor:
		c.State, c.Answer, c.Detail = document.OK, "yes", fmt.Sprintf("%d and %d, under %s: the runtime's default is never below 2", p, n, under)
	case verdict.DefaultUnseenLimit:
		c.State, c.Answer = document.Attention, "yes"
		c.Detail = fmt.Sprintf("%d and %d, although under %s: the default of this program ignores it (Go before 1.25, go 1.24 or lower in go.mod, or a limit on a parent cgroup)", p, n, under)
	case verdict.DefaultLimit:
		c.State, c.Answer = document.OK, "no"
		c.Detail = fmt.Sprintf("%d against %d: since Go 1.25 the default is the limit (%s) rounded up, at least 2", p, n, number.CPUs(d.LimitCPUs))
	case verdict.DefaultUnexplained:
		c.State, c.Answer = document.Attention, "no"
		c.Detail = fmt.Sprintf("%d against %d under %s, which the rule of the runtime does not explain; procfit explain reports what set it", p, n, under)
	}
	return c
}

func (g *group) tunedFor() document.Check {
	c := document.Check{Question: "Throughput or latency?", State: document.OK, Answer: "both", Detail: "throughput: " + g.throughputNote()}
	switch g.LatencyMode {
	case "open":
		c.Detail += "; p99: " + g.latencyNote()
	case "closed":
		if g.r.Plan.SLO != nil {
			c.Detail += "; latency is judged by that limit"
			break
		}
		c.State, c.Answer = document.Attention, "throughput"
		c.Detail += "; latency is shown but not judged, because in the throughput phase it mirrors throughput"
	default:
		c.Answer = "throughput"
		c.Detail += "; no latency was measured"
	}
	if rec := g.Recommendation; rec.Verdict == verdict.TradeOff {
		c.State = document.Attention
		c.Detail += fmt.Sprintf(". Here they need different values: throughput %s, p99 %s", phrase.Clean(rec.BestThroughput), phrase.Clean(rec.BestP99))
	}
	return c
}

func (g *group) enough() document.Check {
	c := document.Check{Question: "At least five settings, with enough trials each?", State: document.OK, Answer: "yes"}
	settings, repeated, least := 0, 0, math.MaxInt
	for _, a := range g.rows {
		if a.Variant != "" {
			continue
		}
		settings++
		least = min(least, a.Trials)
		if a.Trials >= repeatsAsked {
			repeated++
		}
	}
	if settings == 0 {
		least = 0
	}
	each := ", at least " + phrase.Count(least, "valid trial") + " each"
	if least == 0 {
		each = ", not all with a valid trial"
	}
	c.Detail = phrase.Count(settings, "setting") + each
	if repeated < settingsAsked {
		c.State, c.Answer = document.Attention, "no"
	}
	return c
}

func (g *group) beforeAfter() document.Check {
	c := document.Check{Question: "Before and after, with a load like that in production?", State: document.Unknown, Answer: "only you know"}
	before, after := g.unset(), g.chosen()
	if before != nil && g.row(before.Label) != nil {
		before = g.row(before.Label) // with its copies, as the table has it
	}
	var parts []string
	if before != nil {
		parts = append(parts, "before ("+settingName(before)+"): "+g.figures(before))
	}
	if after != nil && after != before {
		parts = append(parts, "after ("+settingName(after)+"): "+g.figures(after))
	}
	if before == nil {
		parts = append(parts, "unset was not measured, so there is nothing to compare with")
	}
	parts = append(parts, "the load was "+g.loadShape()+"; only you know whether the load in production is similar")
	c.Detail = strings.Join(parts, "; ")
	return c
}

func (g *group) figures(a *verdict.SettingResult) string {
	level := g.asShown(a.Throughput).Median
	if level == nil {
		return "nothing measured"
	}
	s := g.throughput.Value(*level)
	if g.runs() {
		s += " per run"
	}
	if a.P99.Median != nil {
		s += ", p99 " + number.Time().Value(*a.P99.Median)
	}
	return s
}

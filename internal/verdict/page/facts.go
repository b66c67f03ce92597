package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
)

// facts are the numbers behind the verdict.
func (g *group) facts() []document.Pair {
	share := number.Ratio()
	var out []document.Pair
	add := func(name, value string) {
		if value != "" {
			out = append(out, document.Pair{Name: name, Value: value})
		}
	}
	g.noiseFacts(add)
	if d := g.Detectable; d.Throughput != nil || d.P99 != nil {
		add("Smallest detectable difference", g.pairOf(d.Throughput, d.P99)+", with this many trials")
	}
	margins := "throughput " + share.Number(g.r.Plan.Margin)
	if g.r.Plan.MarginP99 > 0 {
		margins += ", p99 " + share.Number(g.r.Plan.MarginP99)
	}
	add("Margins", margins+" (a value that is worse by less is equally good)")
	if a := g.row(g.Peak); a != nil {
		add("Peak", settingName(a)+", "+g.figures(a))
	}
	if names := g.within(); len(names) > 0 {
		add("Within "+share.Number(g.r.Plan.Margin)+" of the peak", strings.Join(names, ", "))
	}
	if w := g.Flatness.WorstAbove; w != nil {
		add("Above the peak", "up to "+slower(*w-1)+" with a higher GOMAXPROCS")
	}
	if w := g.Workload; w.TooFewCPUs {
		add("Workload", "unknown: "+g.words.others())
	} else if w.CPUUtilisation != nil {
		add("Workload", fmt.Sprintf("%s: %s of its CPUs used at %s", phrase.Clip(w.Kind, nameRoom), share.Number(*w.CPUUtilisation), g.settingText(w.Setting)))
	} else {
		add("Workload", phrase.Clip(w.Kind, nameRoom))
	}
	if o := g.Others; o.CPUs != nil && o.Of > 0 {
		add("Other programs", fmt.Sprintf("used %s of the %s that the target may use", shortNumber(roundTo(*o.CPUs), number.Digits), number.CPUs(float64(o.Of))))
	}
	add("Program next to it", g.neighbour())
	add("CPU per request", g.cpuEach())
	g.memoryFacts(add)
	return out
}

// noiseFacts are how much trials vary, and how much two copies of one setting differed.
func (g *group) noiseFacts(add func(name, value string)) {
	if n := g.Spread; n.Throughput != nil {
		add("Noise", fmt.Sprintf("%s between trials of one setting (%s of freedom)",
			g.pairOf(n.Throughput, n.P99), phrase.CountOf(n.DF, "degree", "degrees")))
	} else {
		add("Noise", "unknown: too few trials")
	}
	if n := g.NoiseFloor; n.Throughput != nil || n.P99 != nil {
		add("Repeat of the default", fmt.Sprintf("two repeats of %s differed by up to %s, in %s (95%%)",
			g.settingText(n.Setting), copiesApart(n), phrase.Count(n.Pairs, "pair")))
	}
}

// copiesApart is how much two copies differed: "2.2% in throughput and 14% in p99".
func copiesApart(n verdict.NoiseFloor) string {
	var parts []string
	if n.Throughput != nil {
		parts = append(parts, strayed(*n.Throughput)+" in throughput")
	}
	if n.P99 != nil {
		parts = append(parts, strayed(*n.P99)+" in p99")
	}
	return phrase.And(parts)
}

// neighbour is what the program of --beside used in the trials of one setting: the
// verdict's, or the peak, or any.
func (g *group) neighbour() string {
	a := g.seen()
	if a == nil || a.Evidence.BesideCPUs == nil {
		return ""
	}
	return fmt.Sprintf("used %s in the trials of %s, counted neither for the target nor for other programs", number.CPUsUsed(*a.Evidence.BesideCPUs), settingName(a))
}

// cpuEach is the CPU time of a request at the verdict's setting, or the peak: at
// saturation and at the open loop's rate it differs by as much as a third.
func (g *group) cpuEach() string {
	a := g.shown()
	if a == nil || g.ThroughputUnit != "requests" || a.Evidence.CPUSecondsEach == nil {
		return ""
	}
	text := number.Time().Value(*a.Evidence.CPUSecondsEach)
	if g.r.Target.Attached != nil { // it has one phase
		return text + ", at " + settingName(a)
	}
	text += " in the throughput phase"
	if o := a.OpenEvidence; o != nil && o.CPUSecondsEach != nil {
		text += fmt.Sprintf(", %s in the latency phase", number.Time().Value(*o.CPUSecondsEach))
	}
	return text + ", at " + settingName(a)
}

func roundTo(x float64) float64 { return math.Round(100*x) / 100 }

// pairOf has the name of the judged quantile.
func (g *group) pairOf(throughput, latency *float64) string {
	return strings.Replace(pairOf(throughput, latency), "p99", g.Latency.Name(), 1)
}

// pairOf names the numbers of the two metrics that are known.
func pairOf(throughput, p99 *float64) string {
	var parts []string
	if throughput != nil {
		parts = append(parts, "throughput "+strayed(*throughput))
	}
	if p99 != nil {
		parts = append(parts, "p99 "+strayed(*p99))
	}
	return strings.Join(parts, ", ")
}

// within names the rows that come close to the peak; a row may hold several settings.
func (g *group) within() (names []string) {
	for _, l := range g.Flatness.WithinMargin {
		name := g.settingText(l)
		if a := g.row(l); a != nil {
			name = settingName(a)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// memoryFacts are those of the verdict's setting, or the peak, or any.
func (g *group) memoryFacts(add func(name, value string)) {
	a := g.seen()
	if a == nil {
		return
	}
	e, at := &a.Evidence, ", at "+settingName(a)
	if e.PeakRSSBytes != nil {
		add("Peak memory", memorySize(e.PeakRSSBytes)+at)
	}
	if e.GCCyclesPerSecond == nil {
		return
	}
	text := cycles(e)
	if e.GCPauseSeconds != nil {
		text += " with " + number.Seconds(*e.GCPauseSeconds) + " of pauses"
	}
	if e.GCHeapBytes != nil {
		text += ", " + memorySize(e.GCHeapBytes) + " of heap in use after it"
	}
	if e.GCBusyRatio != nil {
		text += ", " + number.Ratio().Number(*e.GCBusyRatio) + " of the CPU time that the program was busy"
	}
	add("Garbage collector", text+at)
}

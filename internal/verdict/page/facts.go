package page

import (
	"fmt"
	"math"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
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
	if n := g.Spread; n.Throughput != nil {
		add("Noise", fmt.Sprintf("%s between trials of one setting (%s of freedom)",
			inBoth(n.Throughput, n.P99, g.quantile()), phrase.CountOf(n.DF, "degree", "degrees")))
	} else {
		add("Noise", "unknown: too few trials")
	}
	if n := g.NoiseFloor; n.Throughput != nil || n.P99 != nil {
		add("Repeat of the default", fmt.Sprintf("two repeats of %s differed by up to %s, in %s (95%%)",
			g.settingText(n.Setting), inBoth(n.Throughput, n.P99, "p99"), phrase.Count(n.Pairs, "pair")))
	}
	margins := "throughput " + share.Number(g.r.Plan.Margin)
	if g.r.Plan.MarginP99 > 0 {
		margins += ", p99 " + share.Number(g.r.Plan.MarginP99)
	}
	add("Margins", margins+" (a value that is worse by less is equally good)")
	if a := g.row(g.Peak); a != nil {
		add("Peak", settingName(a)+", "+g.figures(a))
	}
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
	add("Program next to it", g.neighbour())
	add("CPU per request", g.cpuEach())
	g.memoryFacts(add)
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

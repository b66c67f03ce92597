package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
)

// facts are the figures behind the verdict.
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
		add("Detectable effect", g.pairOf(d.Throughput, d.P99)+": smaller differences cannot be shown with this many blocks")
	}
	margins := "throughput " + share.Number(g.r.Plan.Margin)
	if g.r.Plan.MarginP99 > 0 {
		margins += ", p99 " + share.Number(g.r.Plan.MarginP99)
	}
	add("Margins", margins+": what counts as no worse")
	if a := g.row(g.Peak); a != nil {
		add("Peak", settingName(a)+", "+g.figures(a))
	}
	if names := g.within(); len(names) > 0 {
		add("Flatness", fmt.Sprintf("within %s of the peak: %s", share.Number(g.r.Plan.Margin), strings.Join(names, ", ")))
	}
	if w := g.Flatness.WorstAbove; w != nil {
		add("Beyond the peak", "up to "+slower(*w-1)+" with more Ps")
	}
	if w := g.Workload; w.Withheld {
		add("Workload", "not known: "+words{g.Group, g.r}.others())
	} else if w.CPUUtilisation != nil {
		add("Workload", fmt.Sprintf("%s: %s of its CPUs used at %s", phrase.Clip(phrase.Clean(w.Kind), nameRoom), share.Number(*w.CPUUtilisation), g.settingText(w.Setting)))
	} else {
		add("Workload", phrase.Clip(phrase.Clean(w.Kind), nameRoom))
	}
	if o := g.Others; o.CPUs != nil && o.Of > 0 {
		add("Other programs", fmt.Sprintf("used %s of the %s that the target may use", short(roundTo(*o.CPUs), number.Digits), number.CPUs(float64(o.Of))))
	}
	add("The program beside it", g.neighbour())
	add("CPU a request", g.cpuEach())
	g.memoryFacts(add)
	if u := g.USL; u != nil {
		if u.Poor {
			add("Scalability law", "fits poorly, do not read it: "+doubt(g.Group))
		} else {
			peak := "no peak observed"
			if u.Peak != nil {
				peak = "fitted peak at " + short(*u.Peak, number.Digits) + " Ps"
			}
			add("Scalability law", fmt.Sprintf("λ %s at one P, contention σ %s, coherency κ %s, %s (R² %s): a diagnostic, not the recommender",
				number.PerSecond(throughputUnit(g.ThroughputUnit)).Value(u.Lambda), short(u.Sigma, 2), short(u.Kappa, 2), peak, short(u.R2, 2)))
		}
	}
	return out
}

// noiseFacts are how much trials vary, and how far apart two copies of one setting were.
func (g *group) noiseFacts(add func(name, value string)) {
	if n := g.Spread; n.Throughput != nil {
		add("Noise", fmt.Sprintf("%s: how much trials of one setting vary (%s of freedom)",
			g.pairOf(n.Throughput, n.P99), phrase.CountOf(n.DF, "degree", "degrees")))
	} else {
		add("Noise", "not known: too few trials")
	}
	if n := g.NoiseFloor; n.Throughput != nil || n.P99 != nil {
		add("Same setting twice", fmt.Sprintf("two copies of %s differed by up to %s, in %s (95%%)",
			g.settingText(n.Setting), copiesApart(n), phrase.Count(n.Pairs, "pair")))
	}
}

// copiesApart is how far apart two copies were: "2.2% in throughput and 14% in p99".
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
	return fmt.Sprintf("used %s in the trials of %s: neither the target's nor other programs'", cpusUsed(*a.Evidence.BesideCPUs), settingName(a))
}

// cpuEach is the CPU time of a request at the verdict's setting, or the peak: at
// saturation and at the open loop's rate it differs by as much as a third.
func (g *group) cpuEach() string {
	a := g.shown()
	if a == nil || g.ThroughputUnit != "requests" || a.Evidence.CPUSecondsEach == nil {
		return ""
	}
	text := fmt.Sprintf("%s in closed loop", number.Time().Value(*a.Evidence.CPUSecondsEach))
	if o := a.OpenEvidence; o != nil && o.CPUSecondsEach != nil {
		text += fmt.Sprintf(", %s in open loop", number.Time().Value(*o.CPUSecondsEach))
	}
	return text + ", at " + settingName(a)
}

func roundTo(x float64) float64 { return math.Round(100*x) / 100 }

// pairOf has the name of the judged quantile.
func (g *group) pairOf(throughput, latency *float64) string {
	return strings.Replace(pairOf(throughput, latency), "p99", g.Latency.Name(), 1)
}

// pairOf names the figures of the two metrics that are known.
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

func (g *group) throughputNote() string {
	l := g.r.Load
	switch {
	case g.r.Target.Kind != "server":
		return "whole runs"
	case l.Command != "":
		return "as the load command printed it"
	case g.r.Target.Attached != nil:
		return "what it answered of the rate, " + phrase.Count(l.Connections, "connection")
	case g.r.Plan.SLO != nil:
		return "the highest rate within it, of those that a trial tried in open loop; " + phrase.Count(l.Connections, "connection")
	}
	return "closed loop, " + phrase.Count(l.Connections, "connection")
}

func (g *group) latencyNote() string {
	switch {
	case g.LatencyMode == "open" && g.RatePerSecond != nil:
		u := g.throughput.Short()
		return "open loop at " + u.Value(*g.RatePerSecond) + " for every setting, " + g.counted()
	case g.LatencyMode == "open":
		return "open loop, " + g.counted()
	case g.LatencyMode == "closed":
		return "closed loop: not judged, it restates throughput"
	}
	return ""
}

// counted is what the open loop's latency counts from, and how its requests came.
func (g *group) counted() string {
	switch {
	case g.r.Load.Command != "":
		return "as the load command counts it"
	case g.r.Load.Pace != "":
		return "at random (" + g.r.Load.Pace + "), from the intended send"
	}
	return "evenly paced, from the intended send"
}

func (g *group) loadShape() string {
	l, t := g.r.Load, g.r.Target
	switch {
	case t.Kind != "server":
		return "the program's own run"
	case l.Command != "":
		return phrase.Clean(l.Command)
	}
	s := phrase.Count(l.Connections, "connection") + ", " + phrase.Clean(method(l))
	if t.URL != "" {
		s += " " + phrase.Clean(t.URL)
	}
	if l.BodyBytes > 0 {
		s += " with a body of " + strconv.Itoa(l.BodyBytes) + " bytes"
	}
	return s
}

// doubt is why a fit of the scalability law is not to be read.
func doubt(g *verdict.Group) string {
	switch u := g.USL; u.Doubt {
	case verdict.DoubtPoorFit:
		return "it explains " + number.Percent(max(0, u.R2)) + " of the variation"
	case verdict.DoubtFewWithin:
		return fmt.Sprintf("%s at or below the %s that can be used; the curve between is a guess", phrase.Count(u.Within, "value"), number.CPUs(g.EffectiveCPUs))
	case verdict.DoubtFewPoints:
		return "four points for three parameters fit almost anything"
	}
	return ""
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

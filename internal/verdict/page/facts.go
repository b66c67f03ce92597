package page

import (
	"fmt"
	"math"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// facts are the numbers behind the verdict that no table has.
func (g *group) facts() (out document.Pairs) {
	share := number.Ratio()
	add := func(name, value string) { out = append(out, document.Pair{Name: name, Value: value}) }
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

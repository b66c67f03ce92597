package page

import "fmt"

// comparedChange is what the best value changes against the first.
func (g *group) comparedChange() string {
	rec := &g.Recommendation
	v := rec.Versus
	if v == nil || v.Throughput.Median == nil {
		return rec.Setting + " is as good as any."
	}
	text := fmt.Sprintf("Compared with %s: %s", g.start(), changedFrom("throughput", v.Throughput, g.r.Plan.Margin, "higher", "lower"))
	if v.Latency.Median != nil {
		text += "; " + changedFrom(g.words.quantile(), v.Latency, g.r.Plan.MarginP99, "higher", "lower")
	}
	if now, then := g.setting(rec.Setting), g.setting(g.start()); now != nil && then != nil && now.Evidence.PeakRSSBytes != nil && then.Evidence.PeakRSSBytes != nil {
		text += fmt.Sprintf("; peak memory is %s instead of %s", memorySize(now.Evidence.PeakRSSBytes), memorySize(then.Evidence.PeakRSSBytes))
	}
	return text + "."
}

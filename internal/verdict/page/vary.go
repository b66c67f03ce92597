package page

import (
	"fmt"

	"github.com/procfit/procfit/internal/verdict"
)

func (w words) changes(against string, v *verdict.Versus) string {
	text := fmt.Sprintf("Compared with %s: %s", against, changedFrom("throughput", v.Throughput, w.r.Plan.Margin))
	if v.Latency.Median != nil {
		text += "; " + changedFrom(w.quantile(), v.Latency, w.r.Plan.MarginP99)
	}
	return text
}

func (g *group) comparedChange() string {
	rec := &g.Recommendation
	v := rec.Versus
	if v == nil || v.Throughput.Median == nil {
		return rec.Setting + " is as good as any."
	}
	text := g.changes(g.start(), v)
	if now, then := g.setting(rec.Setting), g.setting(g.start()); now != nil && then != nil && now.Evidence.PeakRSSBytes != nil && then.Evidence.PeakRSSBytes != nil {
		text += fmt.Sprintf("; peak memory is %s instead of %s", memorySize(now.Evidence.PeakRSSBytes), memorySize(then.Evidence.PeakRSSBytes))
	}
	return text + "."
}

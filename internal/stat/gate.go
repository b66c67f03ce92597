package stat

import (
	"fmt"
	"math"

	"github.com/procfit/procfit/internal/journal"
)

// The kinds of gate, and the metrics that they check.
const (
	GateKindAgainst  = "against"
	GateKindBaseline = "baseline"

	MetricThroughput = "throughput"
	MetricP99        = "p99"
)

// GateAgainst compares each arm with the old command's arm of the same setting,
// block by block. The gate fails where the new one is proven worse by more than
// the margin, and by more than copies of one arm differ by.
func GateAgainst(h journal.Header, trials []journal.Trial) *Gate {
	gate := &Gate{Kind: GateKindAgainst, Pass: true, Checks: []GateCheck{}}
	groups := collect(h, trials)
	for _, g := range groups {
		j := newJudge(h.Plan.Margin, h.Plan.MarginP99)
		j.noise(g)
		for _, a := range g.current() {
			old := g.variantOf(a)
			if old == nil {
				continue
			}
			label := a.Label
			if len(groups) > 1 {
				label += g.suffix()
			}
			gate.add(j, label, MetricThroughput, locate(g.series(throughputOf, a.measure).minus(g.series(throughputOf, old.measure))))
			if g.latencyMode() == journal.ModeOpen {
				gate.add(j, label, MetricP99, locate(g.series(p99Of, a.measure).minus(g.series(p99Of, old.measure))))
			}
		}
	}
	return gate
}

// variantOf is the old command's arm of the same setting.
func (g *group) variantOf(a *arm) *arm {
	for _, other := range g.arms {
		if other.Variant == against && other.key.procs == a.key.procs {
			return other
		}
	}
	return nil
}

// suffix tells the groups of one run apart.
func (g *group) suffix() string {
	text := ""
	if g.limited {
		text += ", quota " + cpus(g.quota)
	}
	if g.version != "" {
		text += ", Go " + g.version
	}
	return text
}

// add checks the new ÷ old of one arm in one metric.
func (gate *Gate) add(j *judge, arm, metric string, e estimate) {
	c := GateCheck{Arm: arm, Metric: metric, Ratio: e.ratio()}
	loss, floor, word := -e.mid, j.floor, change
	limit, best, worst := j.margin, -e.upper, -e.lower
	c.Margin = -math.Expm1(-j.margin)
	if metric == MetricP99 {
		loss, floor, word = e.mid, j.floorP99, shift
		limit, best, worst = j.marginP99, e.lower, e.upper
		c.Margin = math.Expm1(j.marginP99)
	}
	// best and worst are the ends of the loss that the blocks leave open.
	c.Worse = e.n > 0 && best > limit && loss > floor
	c.Proven = e.n > 0 && worst < limit
	switch {
	case e.n == 0:
		c.Note = "cannot tell: no block has a valid trial of both"
	case c.Worse:
		c.Note = fmt.Sprintf("%s, proven worse than the margin of %s (n %d)", word(e.mid), percent(c.Margin), e.n)
	case c.Proven:
		c.Note = fmt.Sprintf("%s, proven within the margin of %s (n %d)", word(e.mid), percent(c.Margin), e.n)
	case best > limit:
		c.Note = fmt.Sprintf("cannot tell: %s, but copies of one arm differ by up to %s (n %d)", word(e.mid), percent(expm1(floor)), e.n)
	default:
		c.Note = fmt.Sprintf("cannot tell: %s, neither worse nor within the margin of %s with confidence (n %d); more --repeats would", word(e.mid), percent(c.Margin), e.n)
	}
	gate.Checks = append(gate.Checks, c)
	gate.Pass = gate.Pass && !c.Worse
}

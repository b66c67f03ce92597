package verdict

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// looked locates new against old of a gate that was asked after each pair, and ended
// when it knew: with bounds that hold at all times together, whatever the error asked.
func (g *group) looked(p journal.Plan, now, then *arm, figure race.Figure) located {
	var pairs []race.GatePair
	for _, block := range g.blocks {
		a, b := now.in(block), then.in(block)
		if a != nil && b != nil {
			pairs = append(pairs, race.GatePair{Old: g.raced(1, then, b), New: g.raced(1, now, a)})
		}
	}
	rules := race.GateRules{Margin: p.Margin, MarginP99: p.MarginP99, Latency: g.latency.Quantile > 0}
	for _, c := range race.SequentialGate(rules, pairs).Checks {
		if c.By == figure && c.Pairs > 0 {
			lower, upper := math.Log(c.Low), math.Log(c.High) // infinite where so few prove nothing
			return func(float64) (int, float64, float64, float64) { return c.Pairs, math.Log(c.Ratio), lower, upper }
		}
	}
	return func(float64) (int, float64, float64, float64) { return 0, math.NaN(), math.Inf(-1), math.Inf(1) }
}

// in is the arm's valid trial of a block; nil without one.
func (a *arm) in(block int) *journal.Trial {
	i := slices.IndexFunc(a.measure, func(t *journal.Trial) bool { return t.Valid && t.Block == block })
	if i < 0 {
		return nil
	}
	return a.measure[i]
}

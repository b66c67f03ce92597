package contest

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Rules are what the trials of one group are judged by, while they are measured and in
// the end: there is no second place that makes them. The trials are the group's own,
// without pilots and without the old command's.
func Rules(h journal.Header, g journal.GroupKey, trials []*journal.Trial, latency Latency) race.Rules {
	p := h.Plan
	r := race.Rules{
		Listed: p.Listed, Goal: race.Goal(p.Goal),
		Margin: min(max(p.Margin, 0), 0.99), MarginP99: max(p.MarginP99, 0), // a journal may be anyone's
		// Each group has a seed of its own: with one, all would run in the same order.
		Seed:    p.Seed + uint64(max(0, slices.Index(p.Groups(), g))),
		Latency: latency.Quantile > 0, MaxByLatency: MostByLatency(h, g, trials),
	}
	if p.SLO == nil { // under an objective each trial looked for a rate of its own
		for _, t := range trials {
			r.Rate = max(r.Rate, offered(t))
		}
	}
	return r
}

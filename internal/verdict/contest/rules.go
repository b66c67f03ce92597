package contest

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// rulesOf are what the trials are compared by.
func (c *Contest) rulesOf() race.Rules {
	p := c.h.Plan
	r := race.Rules{
		Listed: p.Listed, Goal: race.Goal(p.Goal),
		Margin: min(max(p.Margin, 0), 0.99), MarginP99: max(p.MarginP99, 0), // a journal may be anyone's
		// Each group has a seed of its own: with one, all would run in the same order.
		Seed:    p.Seed + uint64(max(0, slices.Index(p.Groups(), c.Group))),
		Latency: c.Latency.Quantile > 0, MaxByLatency: mostByLatency(c.h, c.Group, c.own), Default: c.Default,
	}
	if p.SLO == nil { // under an objective each trial looked for a rate of its own
		for _, t := range c.own {
			r.Rate = max(r.Rate, offered(t))
		}
	}
	for _, a := range c.settings {
		if a.Procs != nil && *a.Procs > 0 { // a plan is checked, a journal may be anyone's
			r.Values = append(r.Values, *a.Procs)
		}
	}
	if c.Default > 0 {
		r.Values = append(r.Values, c.Default)
	}
	slices.Sort(r.Values)
	r.Values = slices.Compact(r.Values)
	return r
}

// mostWithheld is how often a value is tried that other programs leave too few CPUs, while
// others can be compared: they may stop. Where none can, all are tried until the budget
// ends.
const mostWithheld = 5

// withhold finds the settings that other programs left too few CPUs, and the values that
// they are of, which take no part. One of a few trials may be tried again.
func (c *Contest) withhold() map[int]bool {
	c.Withheld = Starved(c.h, c.Group, c.own)
	out, tried := map[int]bool{}, map[int]int{}
	for _, t := range c.own {
		v := c.valueOf(t)
		tried[v]++
		out[v] = out[v] || c.Withheld[t.Setting.Key()]
	}
	if slices.ContainsFunc(c.own, func(t *journal.Trial) bool { v := c.valueOf(t); return t.Valid && v > 0 && !out[v] }) {
		c.rules.Values = slices.DeleteFunc(c.rules.Values, func(v int) bool { return out[v] && tried[v] >= mostWithheld })
	}
	return out
}

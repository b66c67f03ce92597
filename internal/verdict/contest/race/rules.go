package race

import (
	"math"
	"slices"
)

// Goal is how sure the race is to be before it ends.
type Goal string

const (
	Proven Goal = "proven" // each comparison that it rests on is, at 95%
	Likely Goal = "likely" // probable by the pooled model
)

// Rules are what a race is run by. They do not change while it runs.
type Rules struct {
	Values       []int   // every candidate, ascending
	Listed       bool    // they were named by the user: each gets three blocks at least
	Default      int     // what unset resolves to; its trials alternate with the number's. 0: unknown, or not of the race
	Margin       float64 // a loss of throughput that does not matter; 0: 0.05
	MarginP99    float64 // a longer p99 that does not matter; 0: 0.20
	Goal         Goal    // empty: Proven
	MaxTrials    int     // 0: with two pilots 10, 40, 64 or 96, by the number of values
	Seed         uint64
	Latency      bool    // whether p99 is judged
	Rate         float64 // offered in open loop, in the throughput's unit; 0: unknown
	MaxByLatency int     // no larger value is preferred by latency; 0: no bound
	First        []int   // the first block, where slices of one start chose it; nil: see grid
	Moves        bool    // slices showed a value to be worse, which is not among Values
	without      rule    // of a test, which shows what that rule is for
}

// rule is one that noisy machines made necessary.
type rule string

const (
	ruleDescent rule = "descent" // the further away a trial is, the less it counts
	ruleAlone   rule = "alone"   // a single trial proves nothing
	ruleHarm    rule = "harm"    // a likely value is shown to do no harm
)

// TrialsPerListed is how many blocks each value has that the user named.
const TrialsPerListed = 3

// pilots are the trials before a race, which its user counts too.
const pilots = 2

// Limit is the most trials that the race may take.
func (r Rules) Limit() int {
	if r.MaxTrials > 0 {
		return r.MaxTrials
	}
	limit := 96 - pilots
	switch {
	case len(r.Values) == 1: // nothing is compared: more than a few are for those that are invalid
		limit = 10 - pilots
	case len(r.Values) <= 6:
		limit = 40 - pilots
	case len(r.Values) <= 16:
		limit = 64 - pilots
	}
	if r.Listed {
		limit = max(limit, TrialsPerListed*len(r.Values))
	}
	return limit
}

// margin is the logarithm of the worst throughput that counts as good, and of the
// longest p99, both as distances.
func (r Rules) margin(by Figure) float64 {
	if by == P99 {
		if r.MarginP99 > 0 {
			return math.Log1p(r.MarginP99)
		}
		return math.Log(1.2)
	}
	if r.Margin > 0 && r.Margin < 1 {
		return -math.Log1p(-r.Margin)
	}
	return -math.Log(0.95)
}

// grid is the first block: all of a few values, else the powers of two, the default
// and the largest.
func (r Rules) grid() []int {
	if r.First != nil {
		return slices.DeleteFunc(slices.Clone(r.First), func(n int) bool { return !slices.Contains(r.Values, n) })
	}
	if r.Listed || len(r.Values) <= 6 {
		return slices.Clone(r.Values)
	}
	least, most := r.Values[0], r.Values[len(r.Values)-1]
	grid := []int{least, most}
	for n := 1; n <= most; n *= 2 {
		grid = append(grid, n)
	}
	grid = append(grid, r.Default)
	slices.Sort(grid)
	grid = slices.Compact(grid)
	return slices.DeleteFunc(grid, func(n int) bool { return !slices.Contains(r.Values, n) })
}

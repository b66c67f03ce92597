package plan

import (
	"time"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Budget is what a race may take, and when it may end before.
type Budget struct {
	Goal      journal.Goal
	MaxTrials int           // of all groups, pilots included; 0: by the number of values
	MaxTime   time.Duration // that the trials take; 0: any
}

// govern makes a plan that of a race over its settings.
func (b Budget) govern(p *journal.Plan, listed bool) {
	p.Strategy, p.Goal, p.Listed = journal.StrategyRace, b.Goal, listed
	p.MaxTrials, p.MaxSeconds = b.MaxTrials, b.MaxTime.Seconds()
	p.AA, p.Blocks = []journal.Setting{}, 0
	switch {
	case p.MaxTrials > 0:
		return
	case p.GateAgainst:
		p.MaxTrials = len(pilotsOf(*p)) + duelPairs*len(p.Settings) // two settings a pair
		return
	}
	for _, g := range p.Groups() {
		values := 0
		for _, a := range p.Settings {
			if a.Group() == g && (a.Procs != nil || listed) {
				values++
			}
		}
		p.MaxTrials += pilots + contest.Limit(values, listed)
	}
}

// Fewest is how many trials a race takes at least: its pilots and the first block of
// each group, or all that values which were named are sure of; a gate's those that any
// ruling needs.
func Fewest(h journal.Header) int {
	n := len(pilotsOf(h.Plan))
	if h.Plan.GateAgainst {
		return n + fewestPairs*len(h.Plan.Settings)
	}
	for _, c := range contest.All(h, nil) {
		n += c.Fewest()
	}
	return n
}

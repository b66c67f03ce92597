package plan

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
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
		p.MaxTrials += pilots + contestsOf(p, values, listed)
	}
}

// contestsOf is the most trials of a group by default: with variables, GOMAXPROCS and each of
// them may be compared again at the best values of the others.
func contestsOf(p *journal.Plan, values int, listed bool) int {
	most, compared := contest.Limit(values, listed), len(p.Vary)
	if len(p.Vary) > 0 && values < 2 {
		most = 0
	} else if values > 1 {
		compared++
	}
	for _, a := range p.Vary {
		most += contest.Limit(len(a.Values), true)
	}
	if compared > 1 {
		most *= 2
	}
	return most
}

// OverBudgetError is that the first blocks do not fit into the budget, as its first trials show.
type OverBudgetError struct {
	Max, Took time.Duration
	Trials    int           // that ran
	Slices    int           // that ran too
	Fewest    int           // of the first blocks
	Needs     time.Duration // of the first blocks and the slices, by what ran
}

func (e *OverBudgetError) Error() string {
	ran := phrase.Count(e.Trials, "trial")
	if e.Slices > 0 {
		ran += " and " + phrase.Count(e.Slices, "slice")
	}
	return fmt.Sprintf("--for %s does not hold the first blocks: %s took %s, and it has %s; --for %s with the same --out completes it",
		number.Typed(e.Max), ran, number.Duration(e.Took), phrase.Count(e.Fewest, "trial"), number.Typed(e.Needs))
}

// overBudget is an *OverBudgetError where a trial more would end too long after the time of the budget:
// by more than half of what it takes. Whether a later block fits is seen before it starts.
func (r *Execution) overBudget(t Task) error {
	p, n := r.Header.Plan, len(r.have.Trials)
	if p.MaxSeconds <= 0 || n == 0 || t.Slice() || !t.Pilot() && t.Block >= len(p.Groups()) {
		return nil
	}
	took, each := r.have.took(), contest.Seconds(r.have.Trials)/float64(n)
	if took+each/2 <= p.MaxSeconds {
		return nil
	}
	duration := func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
	fewest := max(Fewest(r.Header), n+1)
	return &OverBudgetError{
		Max: duration(p.MaxSeconds), Took: duration(took), Trials: n, Slices: len(r.have.Slices), Fewest: fewest,
		Needs: roundUp(duration(took + each*float64(fewest-n))),
	}
}

// OutOfTime reports whether a race would continue in some group if it had more time.
func OutOfTime(h journal.Header, r Record) bool {
	ends := maps.Values(contest.Count(h, r.Trials, r.Slices...).Ends())
	return slices.Contains(slices.Collect(ends), contest.StopTime)
}

// Fewest is how many trials a race takes at least: pilots and first blocks, or what a gate's ruling needs.
func Fewest(h journal.Header) int {
	n := len(pilotsOf(h.Plan))
	if h.Plan.GateAgainst {
		return n + fewestPairs*len(h.Plan.Settings)
	}
	return n + contest.Fewest(h)
}

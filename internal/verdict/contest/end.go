package contest

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// StopTime is that the next block does not fit into the plan's time.
const StopTime race.Stop = "time"

// brokenPairs without one that can be compared end a duel: the rest would be no better.
const brokenPairs = 3

// Ends says why a plan asks for no more trials of a group. A group that it would go on
// with is not among them.
func Ends(h journal.Header, trials []journal.Trial) map[journal.GroupKey]race.Stop {
	ends := map[journal.GroupKey]race.Stop{}
	if h.Plan.GateAgainst {
		for _, d := range Duels(h, trials) {
			stop := d.End()
			if stop == "" && len(d.Pairs) > 0 {
				stop = Spent(h, trials, 2)
			}
			if before, seen := ends[d.New.Group()]; !seen || before != "" {
				ends[d.New.Group()] = stop
			}
		}
	} else {
		for _, heat := range Of(h, trials) {
			step := race.Next(heat.Rules, heat.Trials)
			if step.Stop == "" && len(heat.Blocks) > 0 {
				step.Stop = Spent(h, trials, len(step.Block))
			}
			ends[heat.Group] = step.Stop
		}
	}
	for g, stop := range ends {
		if stop == "" {
			delete(ends, g)
		}
	}
	return ends
}

// End is why a duel is at its end; empty where it is not.
func (d Duel) End() race.Stop {
	whole := slices.ContainsFunc(d.Pairs, func(p race.GatePair) bool { return !p.Old.Failed && !p.New.Failed })
	switch {
	case !whole && len(d.Pairs) >= brokenPairs:
		return race.StopNothing
	case race.SequentialGate(d.Rules, d.Pairs).Ruling != race.GoOn:
		return race.StopGoal
	}
	return ""
}

// Spent says which part of the budget has no room for so many trials more. The time is
// the trials' own and no clock's, so that a run that was stopped goes on with what it had
// left.
func Spent(h journal.Header, trials []journal.Trial, more int) race.Stop {
	if h.Plan.MaxTrials > 0 && len(trials)+more > h.Plan.MaxTrials {
		return race.StopLimit
	}
	took := Seconds(h, trials)
	if most := h.Plan.MaxSeconds; most > 0 && took+float64(more)*took/float64(max(1, len(trials))) > most {
		return StopTime
	}
	return ""
}

// Seconds is what the trials took; of those that ran side by side each its share.
func Seconds(h journal.Header, trials []journal.Trial) (sum float64) {
	for i := range trials {
		sum += trials[i].DurationSeconds
	}
	return sum / float64(max(1, len(h.Plan.Nodes)))
}

package contest

import (
	"maps"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// StopTime is that the next block does not fit into the plan's time. The others are a
// race's.
const (
	StopTime    race.Stop = "time"
	StopLimit             = race.StopLimit
	StopFutile            = race.StopFutile
	StopUnmet             = race.StopUnmet
	StopNothing           = race.StopNothing
)

// Step is what to measure next in a group: a block in the order to run, or the end.
type Step struct {
	Settings []journal.Setting
	Why      race.Why
	Stop     race.Stop // empty: the block is to be run
}

// Next is what to measure next.
func (c *Contest) Next() Step {
	next := c.race.Next()
	if next.Stop == "" && c.Group.Compares == "" && c.defaultFails() {
		return Step{Stop: StopNothing}
	}
	step := Step{Why: next.Why, Stop: next.Stop}
	for _, choice := range next.Block {
		step.Settings = append(step.Settings, c.setting(choice))
	}
	if unset, planned := c.unset(); planned && next.Stop == "" && c.Unset == PartUnread && HowMany(c.own, isUnset) < fewestUnread {
		step.Settings = append(step.Settings, unset)
	}
	return step
}

// defaultFails reports whether the default failed each time, other than by what may be over: nothing is
// named without it, but for the cheapest setting that carries a rate, which is compared with that alone.
func (c *Contest) defaultFails() bool {
	failed := Where(c.own, func(t *journal.Trial) bool { return isUnset(t) && !t.InvalidCode.Passing() })
	cheapest := c.h.Plan.SLO != nil && c.h.Load.RatePerSecond != nil
	return !cheapest && len(failed) >= race.Enough && Valid(failed) == 0
}

// fewestUnread is how many trials the default gets where its value cannot be read, so
// that it takes no part: what it does is shown next to the others.
const fewestUnread = 3

// unset is the plan's setting without GOMAXPROCS; false: it has none.
func (c *Contest) unset() (a journal.Setting, planned bool) {
	i := slices.IndexFunc(c.settings, func(a journal.Setting) bool { return a.Procs == nil })
	if i < 0 {
		return a, false
	}
	return c.settings[i], true
}

// setting is the setting that a choice of the race runs: unset represents its value where
// that is no setting of its own, and the value for unset where that is none.
func (c *Contest) setting(choice race.Choice) journal.Setting {
	if c.Group.Compares != "" {
		return c.settings[choice.Value-1]
	}
	number := slices.IndexFunc(c.settings, func(a journal.Setting) bool { return a.Procs != nil && *a.Procs == choice.Value })
	unset, planned := c.unset()
	switch {
	case planned && (choice.Unset || number < 0):
		return unset
	case number < 0: // a journal may be anyone's: it has a trial of what its plan lacks
		return c.own[slices.IndexFunc(c.own, func(t *journal.Trial) bool { return c.valueOf(t.Setting) == choice.Value })].Setting
	}
	return c.settings[number]
}

// Limit is the most trials that a contest of N values may take by default.
func Limit(values int, listed bool) int {
	return race.Rules{Values: make([]int, values), Listed: listed}.Limit()
}

// Ends says why a plan asks for no more trials of a group. A group that it would
// continue with is not among them.
func (t *Counted) Ends() map[journal.GroupKey]race.Stop {
	ends := map[journal.GroupKey]race.Stop{}
	if t.Header.Plan.GateAgainst {
		for _, d := range t.Duels() {
			stop := d.End()
			if stop == "" && len(d.Pairs) > 0 {
				stop = t.Spent(2)
			}
			if before, seen := ends[d.New.Group()]; !seen || before != "" {
				ends[d.New.Group()] = stop
			}
		}
	} else {
		looked := t.blocks() >= len(t.Header.Plan.Groups())
		for _, c := range t.Contests() {
			step := c.Next()
			if step.Stop == "" && looked {
				step.Stop = t.Spent(len(step.Settings))
			}
			ends[c.Group] = step.Stop
		}
	}
	maps.DeleteFunc(ends, func(_ journal.GroupKey, stop race.Stop) bool { return stop == "" })
	return ends
}

// blocks is how many have a trial, whether or not it counts: a group whose trials were all
// invalid had its first block too.
func (t *Counted) blocks() int {
	seen := map[int]bool{}
	for i := range t.Trials {
		if t.Trials[i].Role == journal.RoleMeasure {
			seen[t.Trials[i].Block] = true
		}
	}
	return len(seen)
}

// Spent says which part of the budget has no room for N trials more. The time is
// the trials' own and no clock's, so that a run that was stopped continues with what it
// had left.
func (t *Counted) Spent(more int) race.Stop {
	if most := t.Header.Plan.MaxTrials; most > 0 && len(t.Trials)+more > most {
		return race.StopLimit
	}
	if most := t.Header.Plan.MaxSeconds; most > 0 && Seconds(t.Slices)+float64(len(t.Trials)+more)*t.TrialSeconds() > most {
		return StopTime
	}
	return ""
}

// TrialSeconds is what a trial took, the mean; 0: there is none.
func (t *Counted) TrialSeconds() float64 { return Seconds(t.Trials) / float64(max(1, len(t.Trials))) }

// Seconds is what the trials took.
func Seconds(trials []journal.Trial) (sum float64) {
	for i := range trials {
		sum += trials[i].DurationSeconds
	}
	return sum
}

package stat

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/journal"
)

// Raced is what a race took in a group.
type Raced struct {
	Trials     int   `json:"trials"` // invalid ones too
	Blocks     int   `json:"blocks"`
	Measured   []int `json:"measured"`   // values, ascending
	Candidates int   `json:"candidates"` // values that it could choose from
	// Stop is why it ended: goal, limit or time; empty where it did not.
	Stop string `json:"stop,omitempty"`
}

// The ends of a race.
const (
	StopGoal  = "goal"
	StopLimit = "limit"
	StopTime  = "time"
)

// took counts a group's race; nil of a grid.
func (g *group) took(h journal.Header) *Raced {
	if !h.Plan.Racing() {
		return nil
	}
	r := &Raced{Blocks: len(g.blocks), Measured: []int{}}
	for _, a := range g.current() {
		r.Trials += len(a.measure) + len(a.aa)
		if p, _ := resolved(slices.Concat(a.measure, a.aa)); p != nil && valid(a.measure) > 0 {
			r.Measured = append(r.Measured, *p)
		}
	}
	slices.Sort(r.Measured)
	r.Measured = slices.Compact(r.Measured)
	var candidates []int
	for _, a := range h.Plan.Arms {
		if a.Group() == g.key && a.Procs != nil && a.Variant == "" && !slices.Contains(candidates, *a.Procs) {
			candidates = append(candidates, *a.Procs)
		}
	}
	r.Candidates = len(candidates)
	return r
}

// raced says whether a race came to its end: its goal in each group, or what it might
// take. The last block is not begun where it does not fit in.
func (r *Result) raced(h journal.Header, trials []journal.Trial) {
	if !h.Plan.Racing() {
		return
	}
	const block = 3 // trials
	r.TrialsPlanned = max(h.Plan.MaxTrials, r.TrialsRun+r.PilotsRun)
	reached := len(r.Groups) > 0 && len(r.Groups) >= len(h.Plan.Groups())
	for i := range r.Groups {
		g := &r.Groups[i]
		met := g.Recommendation.Confidence == Proven || g.Recommendation.Confidence == Likely && h.Plan.Goal == journal.GoalLikely
		if met {
			g.Race.Stop = StopGoal
		}
		reached = reached && met
	}
	stop := ""
	switch took := took(h, trials); {
	case r.TrialsRun+r.PilotsRun+block > h.Plan.MaxTrials && h.Plan.MaxTrials > 0:
		stop = StopLimit
	case h.Plan.MaxSeconds > 0 && took*(1+block/math.Max(1, float64(len(trials)))) > h.Plan.MaxSeconds:
		stop = StopTime
	}
	for i := range r.Groups {
		if g := &r.Groups[i]; g.Race.Stop == "" {
			g.Race.Stop = stop
		}
	}
	r.Complete = reached || stop != ""
}

// took is the wall time of a run, from its start to the end of its last trial.
func took(h journal.Header, trials []journal.Trial) float64 {
	if len(trials) == 0 {
		return 0
	}
	last := &trials[len(trials)-1]
	return last.Started.Sub(h.Started).Seconds() + last.DurationSeconds
}

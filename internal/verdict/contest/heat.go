package contest

import (
	"cmp"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Heat is one group of a journal, as a race sees it.
type Heat struct {
	Group  journal.GroupKey
	Rules  race.Rules
	Trials []race.Trial
	// Blocks are the journal's numbers of the heat's blocks: the heat counts its own,
	// from 0.
	Blocks []int

	arms []journal.Arm
}

// Of is a journal's heats, in the order of its plan.
func Of(h journal.Header, trials []journal.Trial) []Heat {
	var heats []Heat
	trials = WithoutBursts(h, trials)
	for _, g := range h.Plan.Groups() {
		heats = append(heats, of(h, trials, g))
	}
	return heats
}

// of is the heat of a group.
func of(h journal.Header, trials []journal.Trial, g journal.GroupKey) Heat {
	heat := Heat{Group: g}
	var values []int
	unset := false
	for _, a := range h.Plan.Arms {
		if a.Group() != g || a.Variant != "" {
			continue
		}
		heat.arms = append(heat.arms, a)
		switch {
		case a.Procs == nil:
			unset = true
		case *a.Procs > 0: // a plan is checked, a journal may be anyone's
			values = append(values, *a.Procs)
		}
	}
	resolved := byItself(h, trials, g)
	if unset {
		values = append(values, resolved)
	}
	slices.Sort(values)
	var own []*journal.Trial
	for i := range trials {
		if t := &trials[i]; t.Role != journal.RolePilot && t.Arm.Group() == g && t.Arm.Variant == "" && t.InvalidCode != journal.InvalidCrowded {
			own = append(own, t)
		}
	}
	if len(h.Plan.Nodes) > 1 { // of blocks that ran side by side one after the other
		slices.SortStableFunc(own, func(a, b *journal.Trial) int { return cmp.Compare(a.Block, b.Block) })
	}
	latency := SteadyLatencyOf(g, own)
	heat.Rules = Rules(h, g, own, latency)
	heat.Rules.Values = slices.Compact(values)
	if unset {
		heat.Rules.Default = resolved
	}
	for _, t := range own {
		figures := latency.Figures(t)
		figures.Node = h.Plan.Lane(t.Block)
		heat.add(t, figures, resolved)
	}
	if h.Plan.MaxTrials > 0 { // what the other groups and the pilots leave of one budget
		heat.Rules.MaxTrials = max(1, h.Plan.MaxTrials-(len(trials)-len(heat.Trials)))
	}
	return heat
}

// add takes a trial with its figures.
func (h *Heat) add(t *journal.Trial, r race.Trial, resolved int) {
	r.Value, r.Unset = resolved, t.Arm.Procs == nil
	if t.Arm.Procs != nil {
		r.Value = *t.Arm.Procs
	}
	r.Block = slices.Index(h.Blocks, t.Block)
	if r.Block < 0 {
		r.Block = len(h.Blocks)
		h.Blocks = append(h.Blocks, t.Block)
	}
	h.Trials = append(h.Trials, r)
}

// Arm is the arm that a choice of the race runs: the unset one stands for its value
// where that is no arm of its own, and the value for the unset one where that is none.
func (h Heat) Arm(c race.Choice) journal.Arm {
	var unset, number *journal.Arm
	for i, a := range h.arms {
		switch {
		case a.Procs == nil:
			unset = &h.arms[i]
		case *a.Procs == c.Value:
			number = &h.arms[i]
		}
	}
	if unset != nil && (c.Unset || number == nil) || number == nil {
		return *unset
	}
	return *number
}

package verdict

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Raced is what a race took in a group.
type Raced struct {
	Trials     int   `json:"trials"` // invalid ones too
	Blocks     int   `json:"blocks"`
	Measured   []int `json:"measured"`   // values, ascending
	Candidates int   `json:"candidates"` // values that it could choose from
	// Stop is why it ended: goal, limit or time, futile (one value is likely, and none can
	// be proven with the trials left) or nothing (no value can be measured); empty where it
	// did not.
	Stop string `json:"stop,omitempty"`
}

// took counts a group's race; nil of a grid.
func (g *group) took(h journal.Header) *Raced {
	if !h.Plan.Racing() {
		return nil
	}
	r := &Raced{Blocks: len(g.blocks), Measured: []int{}}
	for _, a := range g.current() {
		r.Trials += len(a.measure) + len(a.aa)
		p, _ := contest.Resolved(slices.Concat(a.measure, a.aa))
		if p == 0 && a.Procs != nil { // a value that cannot be read is the one that was asked for
			p = *a.Procs
		}
		if p > 0 && valid(a.measure) > 0 {
			r.Measured = append(r.Measured, p)
		}
	}
	slices.Sort(r.Measured)
	r.Measured = slices.Compact(r.Measured)
	var candidates []int
	for _, a := range h.Plan.Settings {
		if a.Group() == g.key && a.Procs != nil && a.Variant == "" && !slices.Contains(candidates, *a.Procs) {
			candidates = append(candidates, *a.Procs)
		}
	}
	r.Candidates = len(candidates)
	return r
}

// raced reports whether a race came to its end in each group.
func (r *Result) raced(h journal.Header, trials []journal.Trial) {
	if !h.Plan.Racing() {
		return
	}
	r.TrialsPlanned = max(h.Plan.MaxTrials, r.TrialsRun+r.PilotsRun)
	ends := contest.Ends(h, trials)
	for _, g := range r.Groups {
		g.Race.Stop = string(ends[g.key()])
	}
	r.Complete = len(h.Plan.Groups()) == len(ends)
}

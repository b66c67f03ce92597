package plan

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// racing lets the trials decide what is measured next, in each group for itself. The
// groups take turns, a block each, so that a drift of the machine affects all equally,
// and share one budget. Where the cheapest setting that carries a rate is asked for, which
// compares each with that rate, their first blocks take turns trial by trial: whoever ends
// the run early knows something of each.
type racing struct{ h journal.Header }

func (p racing) Next(r Record) Leg {
	s := Leg{Total: p.h.Plan.MaxTrials, AtMost: true, Left: p.left(r)}
	if s.Tasks = r.Lacks(pilotsOf(p.h.Plan)); len(s.Tasks) > 0 {
		return s
	}
	counted := contest.Count(p.h, r.Trials, r.Slices...)
	contests := counted.Contests()
	if len(contests) == 1 && len(r.Blocks) == 0 {
		if s.Tasks = p.slices(r, contests[0]); len(s.Tasks) > 0 {
			return s
		}
	}
	turn, next, each := -1, contest.Step{}, []contest.Step(nil)
	for i, c := range contests {
		step := c.Next()
		if step.Stop != "" {
			continue
		}
		s.Open = append(s.Open, questions(c)...)
		if len(step.Settings) > 0 {
			each = append(each, step)
		}
		if turn < 0 || len(c.Blocks) < len(contests[turn].Blocks) {
			turn, next = i, step
		}
	}
	if s.Tasks = r.begun(); len(s.Tasks) > 0 {
		return s.about(s.Tasks[0].Setting.Group())
	}
	if turn < 0 || len(next.Settings) == 0 || p.spent(r, counted, len(next.Settings)) {
		return s
	}
	if len(r.Blocks) > 0 || p.h.Plan.SLO == nil || p.h.Load.RatePerSecond == nil {
		each = []contest.Step{next}
	}
	for _, step := range each {
		s.Begin = append(s.Begin, journal.Block{Block: len(r.Blocks) + len(s.Begin), Why: string(step.Why), Settings: step.Settings})
	}
	s.Tasks = inTurn(s.Begin)
	return s.about(contests[turn].Group)
}

// about puts the questions of one group first.
func (l Leg) about(g journal.GroupKey) Leg {
	sorting.Stable(l.Open, func(a, b Question) int {
		switch {
		case a.Group == b.Group || a.Group != g && b.Group != g:
			return 0
		case a.Group == g:
			return -1
		}
		return 1
	})
	return l
}

// begun is what is missing of the blocks that the journal holds.
func (r Record) begun() []Task {
	return r.Lacks(inTurn(r.Blocks))
}

// inTurn are the tasks of some blocks: the first of each, then the second of each.
func inTurn(blocks []journal.Block) (tasks []Task) {
	for order, more := 0, true; more; order++ {
		more = false
		for _, b := range blocks {
			if order < len(b.Settings) {
				tasks, more = append(tasks, tasksOf(b)[order]), true
			}
		}
	}
	return tasks
}

func tasksOf(b journal.Block) (tasks []Task) {
	for i, setting := range b.Settings {
		tasks = append(tasks, Task{Setting: setting, Role: journal.RoleMeasure, Block: b.Block, Order: i})
	}
	return tasks
}

// questions are what a group's contest has still to decide.
func questions(c *contest.Contest) (list []Question) {
	for _, o := range c.Lead().Open {
		list = append(list, Question{Group: c.Group, A: c.Name(min(o.A, o.B)), B: c.Name(max(o.A, o.B)), Trials: o.Trials})
		if o.By == race.P99 {
			list[len(list)-1].Quantile = c.Latency.Name()
		}
	}
	return list
}

// spent reports whether the budget has no room for a block of that many trials. The first
// block of each group has always room: a budget that has not is refused before.
func (p racing) spent(r Record, counted *contest.Counted, more int) bool {
	return len(r.Blocks) >= len(p.h.Plan.Groups()) && counted.Spent(more) != ""
}

// left is what of the plan's time has not been used.
func (p racing) left(r Record) *time.Duration {
	if p.h.Plan.MaxSeconds <= 0 {
		return nil
	}
	return new(time.Duration(max(0, p.h.Plan.MaxSeconds-r.took()) * float64(time.Second)))
}

// Planner says what is measured next: a pure function of what was measured, so that
// a run that was stopped continues as if it had not been.
type Planner interface {
	Next(Record) Leg
}

// Leg is what to run next.
type Leg struct {
	Tasks []Task // in the order to run; none: the plan is at its end
	// Begin are the blocks to write to the journal before them; none where the journal has
	// them, or in a grid.
	Begin []journal.Block
	Total int // trials that the journal holds in the end, or at most
	// AtMost says that Total is a bound, and what is open may be settled before.
	AtMost bool
	// Left is how long the plan lets it continue; nil: it has no bound.
	Left *time.Duration
	Open []Question
}

// Question is what a group of a race has still to tell.
type Question struct {
	Group journal.GroupKey
	A, B  string // values: which of them; B empty: whether A is the answer
	// Quantile is that of the latency that is to decide, such as p99; empty: throughput is.
	Quantile string
	Trials   int // that it may take; 0: not known
}

// PlannerOf is the planner of a journal's plan.
func PlannerOf(h journal.Header) Planner {
	switch {
	case h.Plan.Racing() && h.Plan.GateAgainst:
		return dueling{h}
	case h.Plan.Racing():
		return racing{h}
	}
	return grid{h.Plan}
}

// dueling runs the old and the new command of a gate side by side, setting by setting
// in turn, until each setting is decided or the budget is used up.
type dueling struct{ h journal.Header }

const (
	// duelPairs is how many pairs of trials a setting's duel has at most: a loss of
	// twice the margin is found in that many where throughput strays by 3%.
	duelPairs = 40
	// fewestPairs is how many a ruling needs.
	fewestPairs = 4
)

func (p dueling) Next(r Record) Leg {
	leg := Leg{Total: p.h.Plan.MaxTrials, AtMost: true, Left: racing(p).left(r)}
	if leg.Tasks = r.Lacks(pilotsOf(p.h.Plan)); len(leg.Tasks) > 0 {
		return leg
	}
	if leg.Tasks = r.begun(); len(leg.Tasks) > 0 {
		return leg
	}
	var next *contest.Duel
	counted := contest.Count(p.h, r.Trials)
	for _, d := range counted.Duels() {
		if d.End() != "" {
			continue
		}
		if next == nil || len(d.Pairs) < len(next.Pairs) {
			next = &d
		}
	}
	if next == nil || racing(p).spent(r, counted, 2) {
		return leg
	}
	block := journal.Block{Block: len(r.Blocks), Why: "gate", Settings: []journal.Setting{next.Old, next.New}}
	order := rand.New(rand.NewPCG(p.h.Plan.Seed, uint64(block.Block)))
	order.Shuffle(2, func(i, j int) { block.Settings[i], block.Settings[j] = block.Settings[j], block.Settings[i] })
	leg.Begin, leg.Tasks = []journal.Block{block}, tasksOf(block)
	return leg
}

// fewestCPUs is the machine from which on the load gets CPUs of its own. Of fewer it
// would leave too little to sweep.
const fewestCPUs = 4

// Split is which CPUs the target and the load have, each for itself.
type Split struct {
	Target, Load cpuset.Set
	Sizing       *journal.Sizing // what it was chosen by
}

// Arranger is a Runner that can set load and target apart on its machine.
type Arranger interface {
	// Arrange measures what the load costs and gives it CPUs of its own, for all
	// trials that follow. nil: it could not be measured, or that there are no CPUs
	// to give: then load and target share them as before. It follows Prepare.
	Arrange(ctx context.Context, plan journal.Plan, observe Observer) (*Split, error)
}

// ApartOn reports whether the load is to get CPUs of its own on a machine of that many
// CPUs that can be used.
func (s Spec) ApartOn(effective float64) bool {
	return s.Split == nil && s.Target.Pods == nil && s.Target.Attach == nil && !s.Load.Shared && s.LoadOnTargetHost() && effective >= fewestCPUs && s.Target.CPUs == nil && s.Load.CPUs == nil
}

// TargetCPUs are those that the target may run on; nil: any.
func (s Spec) TargetCPUs() cpuset.Set {
	if s.Split != nil {
		return s.Split.Target
	}
	return s.Target.CPUs
}

// LoadCPUs are those that the load runs on; nil: any.
func (s Spec) LoadCPUs() cpuset.Set {
	if s.Split != nil {
		return s.Split.Load
	}
	return s.Load.CPUs
}

// Arrangement is how load and target share CPUs; nil where there is no load.
func (s Spec) Arrangement() *journal.Arrangement {
	switch {
	case !s.Target.IsServer():
		return nil
	case s.Target.Pods != nil && s.Target.Pods.LoadFromHere:
		return new(journal.ArrangementTunnel)
	case !s.LoadOnTargetHost():
		return new(journal.ArrangementElsewhere)
	}
	return new(journal.Arrange(s.TargetCPUs(), s.LoadCPUs()))
}

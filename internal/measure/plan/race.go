package plan

import (
	"slices"
	"time"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// racing lets the trials decide what is measured next, in each group for itself. The
// groups take turns, a block each, so that a drift of the machine falls on all alike,
// and share one budget.
type racing struct{ h journal.Header }

func (p racing) Next(r Record) Leg {
	s := Leg{Total: p.h.Plan.MaxTrials, AtMost: true, Left: p.left(r)}
	if s.Tasks = abreast(p.h.Plan, r.Lacks(pilotsOf(p.h.Plan))); len(s.Tasks) > 0 {
		return s
	}
	contests := contest.All(p.h, r.Trials)
	turn, next := -1, contest.Step{}
	for i, c := range contests {
		step := c.Next()
		if step.Stop != "" {
			continue
		}
		s.Open = append(s.Open, questions(c)...)
		if turn < 0 || len(c.Blocks) < len(contests[turn].Blocks) {
			turn, next = i, step
		}
	}
	if s.Tasks = abreast(p.h.Plan, r.begun()); len(s.Tasks) > 0 {
		return s.about(s.Tasks[0].Setting.Group())
	}
	if turn < 0 || len(next.Settings) == 0 || p.spent(r, len(next.Settings)) {
		return s
	}
	s.Begin = p.row(r, next)
	for _, b := range s.Begin {
		s.Tasks = append(s.Tasks, tasksOf(b)...)
	}
	s.Tasks = abreast(p.h.Plan, s.Tasks)
	return s.about(contests[turn].Group)
}

// row is the next block, and the same again on every other node as far as the budget has
// room.
func (p racing) row(r Record, next contest.Step) (list []journal.Block) {
	for range lanes(p.h.Plan) {
		n := len(r.Blocks) + len(list)
		if len(list) > 0 && contest.Spent(p.h, r.Trials, (len(list)+1)*len(next.Settings)) != "" {
			break
		}
		list = append(list, journal.Block{Block: n, Why: string(next.Why), Settings: rotated(next.Settings, p.h.Plan.Lane(n))})
	}
	return list
}

// about puts the questions of one group first.
func (l Leg) about(g journal.GroupKey) Leg {
	slices.SortStableFunc(l.Open, func(a, b Question) int {
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
	var tasks []Task
	for _, b := range r.Blocks {
		tasks = append(tasks, tasksOf(b)...)
	}
	return r.Lacks(tasks)
}

func tasksOf(b journal.Block) (tasks []Task) {
	for i, setting := range b.Settings {
		tasks = append(tasks, Task{Setting: setting, Role: journal.RoleMeasure, Block: b.Block, Order: i})
	}
	return tasks
}

// questions are what a group's contest has still to decide.
func questions(c contest.Contest) (list []Question) {
	for _, o := range c.Lead().Open {
		list = append(list, Question{Group: c.Group, A: min(o.A, o.B), B: max(o.A, o.B), Latency: o.By == race.P99, Trials: o.Trials})
	}
	return list
}

// spent tells whether the budget has no room for a block of so many trials. The first
// block of each group has always room: a budget that has not is refused before.
func (p racing) spent(r Record, more int) bool {
	return len(r.Blocks) >= len(p.h.Plan.Groups()) && contest.Spent(p.h, r.Trials, more) != ""
}

// left is what of the plan's time has not been used.
func (p racing) left(r Record) *time.Duration {
	if p.h.Plan.MaxSeconds <= 0 {
		return nil
	}
	return new(time.Duration(max(0, p.h.Plan.MaxSeconds-contest.Seconds(p.h, r.Trials)) * float64(time.Second)))
}

package plan

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Next is what a plan measures next: a pure function of what was measured, so that a run
// that was stopped continues as if it had not been.
func Next(h journal.Header, r Record) Leg {
	if !h.Plan.Racing() {
		return nextOfGrid(h.Plan, r)
	}
	leg := Leg{Total: h.Plan.MaxTrials, AtMost: true}
	if h.Plan.MaxSeconds > 0 {
		leg.Left = new(time.Duration(max(0, h.Plan.MaxSeconds-r.took()) * float64(time.Second)))
	}
	if leg.Tasks = r.Lacks(pilotsOf(h.Plan)); len(leg.Tasks) > 0 {
		return leg
	}
	if h.Plan.GateAgainst {
		return leg.nextPair(h, r)
	}
	return leg.nextBlocks(h, r)
}

// nextBlocks lets the trials decide what is measured next, in each group for itself. The
// groups take turns, a block each, so that a drift of the machine affects all equally,
// and share one budget. Where the cheapest setting that carries a rate is asked for, which
// compares each with that rate, their first blocks take turns trial by trial: whoever ends
// the run early knows something of each.
func (l Leg) nextBlocks(h journal.Header, r Record) Leg {
	counted := contest.Count(h, r.Trials, r.Slices...)
	contests := counted.Contests()
	if len(contests) == 1 && len(r.Blocks) == 0 {
		if l.Tasks = r.slices(h.Plan, contests[0]); len(l.Tasks) > 0 {
			return l
		}
	}
	turn, next, each := -1, contest.Step{}, []contest.Step(nil)
	for i, c := range contests {
		step := c.Next()
		if step.Stop != "" {
			continue
		}
		l.Open = append(l.Open, questions(c)...)
		if len(step.Settings) > 0 {
			each = append(each, step)
		}
		if turn < 0 || len(c.Blocks) < len(contests[turn].Blocks) {
			turn, next = i, step
		}
	}
	if l.Tasks = r.Lacks(inTurn(r.Blocks)); len(l.Tasks) > 0 {
		return l.about(l.Tasks[0].Setting.Group())
	}
	if turn < 0 || len(next.Settings) == 0 || r.spent(counted, len(next.Settings)) {
		return l
	}
	if len(r.Blocks) > 0 || h.Plan.SLO == nil || h.Load.RatePerSecond == nil {
		each = []contest.Step{next}
	}
	for _, step := range each {
		l.Begin = append(l.Begin, journal.Block{Block: len(r.Blocks) + len(l.Begin), Why: string(step.Why), Settings: step.Settings})
	}
	l.Tasks = inTurn(l.Begin)
	return l.about(contests[turn].Group)
}

// about puts the questions of one group first.
func (l Leg) about(g journal.GroupKey) Leg {
	own := slices.DeleteFunc(slices.Clone(l.Open), func(q Question) bool { return q.Group != g })
	others := slices.DeleteFunc(l.Open, func(q Question) bool { return q.Group == g })
	l.Open = append(own, others...)
	return l
}

// inTurn are the tasks of some blocks: the first of each, then the second of each.
func inTurn(blocks []journal.Block) (tasks []Task) {
	for _, b := range blocks {
		tasks = append(tasks, tasksOf(b)...)
	}
	sorting.Stable(tasks, func(a, b Task) int { return a.Order - b.Order })
	return tasks
}

func tasksOf(b journal.Block) (tasks []Task) {
	for i, setting := range b.Settings {
		tasks = append(tasks, Task{Setting: setting, Role: journal.RoleMeasure, Block: b.Block, Order: i})
	}
	return tasks
}

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
func (r Record) spent(counted *contest.Counted, more int) bool {
	return len(r.Blocks) >= len(counted.Header.Plan.Groups()) && counted.Spent(more) != ""
}

// Leg is what to run next.
type Leg struct {
	Tasks  []Task          // in the order to run; none: the plan is at its end
	Begin  []journal.Block // to write to the journal before them; none: it has them, or it is a grid
	Total  int             // trials that the journal holds in the end, or at most
	AtMost bool            // Total is a bound, and what is open may be settled before
	Left   *time.Duration  // that the plan lets it continue; nil: it has no bound
	Open   []Question
}

// Question is what a group of a race has still to tell.
type Question struct {
	Group    journal.GroupKey
	A, B     string // values: which of them; B empty: whether A is the answer
	Quantile string // of the latency that is to decide, such as p99; empty: throughput is
	Trials   int    // that it may take; 0: not known
}

const (
	// duelPairs is how many pairs of trials a setting's duel has at most: a loss of
	// twice the margin is found in that many where throughput strays by 3%.
	duelPairs   = 40
	fewestPairs = 4 // that a ruling needs
)

// nextPair measures old and new in pairs, setting by setting, until each is decided or the budget is used up.
func (l Leg) nextPair(h journal.Header, r Record) Leg {
	if l.Tasks = r.Lacks(inTurn(r.Blocks)); len(l.Tasks) > 0 {
		return l
	}
	var next *contest.Duel
	counted := contest.Count(h, r.Trials)
	for _, d := range counted.Duels() {
		if d.End() != "" {
			continue
		}
		if next == nil || len(d.Pairs) < len(next.Pairs) {
			next = &d
		}
	}
	if next == nil || r.spent(counted, 2) {
		return l
	}
	block := journal.Block{Block: len(r.Blocks), Why: "gate", Settings: []journal.Setting{next.Old, next.New}}
	shuffle(h.Plan, block.Block, block.Settings)
	l.Begin, l.Tasks = []journal.Block{block}, tasksOf(block)
	return l
}

// nextOfGrid measures every setting equally often: what it runs does not depend on what it
// has found. Blocks that whoever asked for the grid added later have the settings that the
// journal says.
func nextOfGrid(p journal.Plan, r Record) Leg {
	p.Blocks += min(r.slow(2*p.Blocks), p.Blocks) // in place of those during which the machine was slow
	tasks := schedule(p)
	for _, b := range r.Blocks {
		tasks = append(tasks, tasksOf(b)...)
	}
	return Leg{Tasks: r.Lacks(tasks), Total: len(tasks)}
}

// schedule lists every task of a grid in order: the pilots, then the blocks.
func schedule(p journal.Plan) []Task {
	tasks := pilotsOf(p)
	for block := range p.Blocks {
		tasks = append(tasks, blockOf(p, block)...)
	}
	return tasks
}

// shuffle draws the order of a block from a stream of its own, so that a plan of more blocks
// starts with the very blocks of a plan of fewer.
func shuffle[T any](p journal.Plan, block int, list []T) {
	r := rand.New(rand.NewPCG(p.Seed, uint64(block)))
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// Further are more blocks of some of a grid's settings, next to those that its journal has
// already. Their numbers are beyond those of all blocks that replace slow ones.
func Further(p journal.Plan, have, blocks int, settings []journal.Setting) (list []journal.Block) {
	for i := range blocks {
		b := journal.Block{Block: 2*p.Blocks + have + i, Settings: slices.Clone(settings)}
		shuffle(p, b.Block, b.Settings)
		list = append(list, b)
	}
	return list
}

// Pilots is how many trials find the rate.
func Pilots(p journal.Plan) int { return len(pilotsOf(p)) }

// pilotsOf are the trials that find a capacity: each group's with its default, or each
// setting's of a gate, whose latency needs a rate that all of them carry.
func pilotsOf(p journal.Plan) (tasks []Task) {
	seen := map[journal.SettingKey]bool{}
	for _, setting := range p.Settings {
		if !p.GateAgainst {
			setting = withProcs(setting, nil, "")
		}
		if seen[setting.Key()] {
			continue
		}
		seen[setting.Key()] = true
		for n := range p.Pilots {
			tasks = append(tasks, Task{Setting: setting, Role: journal.RolePilot, Block: n, OneStart: p.Slices})
		}
	}
	return tasks
}

// capacityOf is whose capacity a pilot finds. What --vary changes is not a part of it.
func capacityOf(pilot journal.Setting) journal.SettingKey {
	k := pilot.Key()
	k.Group = k.Group.Base()
	return k
}

func blockOf(p journal.Plan, block int) (tasks []Task) {
	for _, setting := range p.Settings {
		tasks = append(tasks, Task{Setting: setting, Role: journal.RoleMeasure, Block: block})
	}
	for _, setting := range p.AA {
		tasks = append(tasks, Task{Setting: setting, Role: journal.RoleAA, Block: block})
	}
	shuffle(p, block, tasks)
	for i := range tasks {
		tasks[i].Order = i
	}
	return tasks
}

// Record is what a journal holds below its header.
type Record struct {
	Trials []journal.Trial
	Slices []journal.Trial
	Blocks []journal.Block // of a race, as they were started; of a grid those that it was given more
	// tried are the tasks that this run has carried out: what came of them holds
	// until another run. A pilot that a busy machine made invalid is not among them.
	tried map[place]bool
}

// place is where in the plan a trial belongs.
type place struct {
	role         journal.Role
	block, order int
	setting      journal.SettingKey
}

func placeOf(t journal.Trial) place { return place{t.Role, t.Block, t.Order, t.Setting.Key()} }

func (t Task) together(other Task) bool {
	return t.Block == other.Block && (t.Role == journal.RolePilot) == (other.Role == journal.RolePilot)
}

func (t Task) place() place { return place{t.Role, t.Block, t.Order, t.Setting.Key()} }

func (r *Record) add(task Task, trial journal.Trial) {
	if task.Slice() {
		r.Slices = append(r.Slices, trial)
		return
	}
	if r.tried == nil {
		r.tried = map[place]bool{}
	}
	r.Trials = append(r.Trials, trial)
	r.tried[task.place()] = !r.again(trial)
}

// Lacks are the tasks that no trial has done. An invalid pilot does not count in a later
// run if none of the same setting is valid: without a rate nothing can continue. Neither does a
// trial for which there was no program.
func (r Record) Lacks(tasks []Task) []Task {
	done, rated := map[place]bool{}, map[journal.SettingKey]bool{}
	for _, t := range r.Trials {
		if t.Role == journal.RolePilot && t.Valid {
			rated[capacityOf(t.Setting)] = true
		}
	}
	for _, t := range r.Trials {
		at := placeOf(t)
		pilot := t.Role == journal.RolePilot
		if r.tried[at] || !t.NotStarted && (!pilot || rated[capacityOf(t.Setting)]) {
			done[at] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(tasks), func(t Task) bool { return done[t.place()] })
}

// of is the trials of a block that is not a pilot's.
func (r Record) of(block int) (list []journal.Trial) {
	for _, t := range r.Trials {
		if t.Role != journal.RolePilot && t.Block == block {
			list = append(list, t)
		}
	}
	return list
}

// SawGo reports whether one of some trials read a Go program.
func SawGo(trials []journal.Trial) bool {
	return slices.ContainsFunc(trials, func(t journal.Trial) bool {
		return slices.ContainsFunc(t.ObservedProcs, func(procs *int) bool { return procs != nil })
	})
}

func (r Record) trials(at place) (n int) {
	for _, t := range r.Trials {
		if placeOf(t) == at {
			n++
		}
	}
	return n
}

// Done counts the trials that need not be run again.
func (r Record) Done(tasks []Task) int {
	places := map[place]bool{}
	for _, t := range r.Trials {
		places[placeOf(t)] = true
	}
	for _, t := range tasks {
		delete(places, t.place())
	}
	return len(places)
}

// sliced reports whether slices of one start choose the values that are measured. They need a
// server of which procfit offers the load and chooses rate and values, few values, and one group:
// what a CPU limit does to a program takes many of its periods to see.
func (s Spec) sliced(p journal.Plan) bool {
	few := len(p.Settings) <= mostSliced+1 // with the default
	limited := slices.ContainsFunc(s.Quotas, func(q *float64) bool { return q != nil }) || s.Limited
	return s.Slices && few && s.Budget != nil && s.Procs.Auto && p.Pilots > 0 && strings.HasPrefix(s.Target.URL, "http") && s.Load.Duration >= slicedFrom &&
		s.Target.Pods == nil && s.Target.Attach == nil && s.Target.Beside == nil && !s.Target.AnyProgram && len(s.Target.Against) == 0 &&
		len(s.Vary) == 0 && !limited && len(s.groups()) == 1 && slices.Equal(s.Replicas, []int{1})
}

const (
	mostSliced = 6                      // values: of more, slices chose too large ones in the simulations
	slicedFrom = time.Second            // of --trial-time: slices take less time than they save
	sliceFor   = 200 * time.Millisecond // of a slice's closed loop
	sliceTakes = 300 * time.Millisecond // about, with the call that sets its value
	pilotLeast = 500 * time.Millisecond // of a pilot's closed loop, to show what other programs used
)

// Slices is how many slices of one start there are, and about how long they take.
func Slices(p journal.Plan) (n int, take time.Duration) {
	n = race.SlicesEach * (len(p.Settings) - 1) // all but the default, which runs as its number
	return n, time.Duration(n) * sliceTakes
}

// InOneStart is the Spec for a pilot, or a slice, in a start that it shares: its loop is shorter.
func (s Spec) InOneStart(t Task) Spec {
	s.Load.Stretch, s.Load.Duration = false, 2*sliceFor
	if t.Pilot() {
		s.Load.Duration = 2 * pilotLeast
	}
	return s
}

func (r Record) slices(p journal.Plan, c *contest.Contest) (tasks []Task) {
	block := 0
	for _, t := range r.Slices {
		block = max(block, t.Block+1)
	}
	for i, n := range c.NextSlices() {
		tasks = append(tasks, Task{Setting: withProcs(p.Settings[0], &n, ""), Role: journal.RoleSlice, Block: block, Order: i, OneStart: true})
	}
	return tasks
}

func (r Record) starts() (n int) {
	for _, t := range r.Slices {
		if t.Start != nil {
			n = max(n, *t.Start+1)
		}
	}
	return n
}

func (r Record) took() float64 {
	return contest.Seconds(r.Trials) + contest.Seconds(r.Slices)
}

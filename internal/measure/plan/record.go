package plan

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
)

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

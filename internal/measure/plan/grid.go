package plan

import (
	"math/rand/v2"
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
)

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

// schedule lists every task of a grid in the order in which to run them:
// each group's pilots, then the blocks. The same plan gives the same list.
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

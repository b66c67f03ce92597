package plan

import (
	"math/rand/v2"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// grid measures every setting equally often: what it runs does not depend on what it
// has found.
type grid struct{ plan journal.Plan }

func (g grid) Next(r Record) Leg {
	p := g.plan
	p.Blocks += min(r.slow(), p.Blocks) // in place of those during which the machine was slow
	tasks := schedule(p)
	return Leg{Tasks: interleaved(g.plan, r.Lacks(tasks)), Total: len(tasks)}
}

// schedule lists every task of a grid in the order in which to run them on one node:
// each group's pilots, then the blocks. The same plan gives the same list.
func schedule(p journal.Plan) []Task {
	tasks := pilotsOf(p)
	for block := range p.Blocks {
		tasks = append(tasks, blockOf(p, block)...)
	}
	return tasks
}

// pilotsOf are the trials that find each group's capacity.
func pilotsOf(p journal.Plan) (tasks []Task) {
	seen := map[journal.GroupKey]bool{}
	for _, setting := range p.Settings {
		if seen[setting.Group()] {
			continue
		}
		seen[setting.Group()] = true
		for n := range p.Pilots {
			tasks = append(tasks, Task{Setting: withProcs(setting, nil, ""), Role: journal.RolePilot, Block: n})
		}
	}
	return tasks
}

func blockOf(p journal.Plan, block int) []Task {
	var tasks []Task
	for _, setting := range p.Settings {
		tasks = append(tasks, Task{Setting: setting, Role: journal.RoleMeasure, Block: block})
	}
	for _, setting := range p.AA {
		tasks = append(tasks, Task{Setting: setting, Role: journal.RoleAA, Block: block})
	}
	// A stream of its own for each block, so that a plan of more blocks starts
	// with the very blocks of a plan of fewer. Blocks that run side by side have one.
	r := rand.New(rand.NewPCG(p.Seed, uint64(block/lanes(p))))
	r.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	tasks = rotated(tasks, p.Lane(block))
	for i := range tasks {
		tasks[i].Order = i
	}
	return tasks
}

package plan

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// A plan may have several nodes, and then runs as many trials at a time, each on a node
// of its own. A whole block runs on one node: what is compared within it ran at one
// speed, and a node that is slower than another is slower for all settings. The
// blocks that run side by side have one order of settings, started at another place on
// each node, so that over them every setting runs once on every node and, where there
// are as many settings as nodes, no two nodes run the same at a time: a Latin square of
// settings, nodes and turns.

// lanes is how many trials run at a time.
func lanes(p journal.Plan) int { return max(1, len(p.Nodes)) }

// rotated is the list started at its n-th element.
func rotated[T any](list []T, n int) []T {
	if len(list) == 0 {
		return list
	}
	n %= len(list)
	return slices.Concat(list[n:], list[:n])
}

// interleaved are the tasks in the order in which they run side by side: the next of every
// lane in turn. Pilots go first, as all else takes its rate from them.
func interleaved(p journal.Plan, tasks []Task) []Task {
	if lanes(p) == 1 {
		return tasks
	}
	var list []Task
	for _, pilots := range []bool{true, false} {
		queues := make([][]Task, lanes(p))
		for _, t := range tasks {
			if (t.Role == journal.RolePilot) == pilots {
				t.Lane = p.Lane(t.Block)
				queues[t.Lane] = append(queues[t.Lane], t)
			}
		}
		for turn := 0; slices.ContainsFunc(queues, func(q []Task) bool { return turn < len(q) }); turn++ {
			for _, q := range queues {
				if turn < len(q) {
					list = append(list, q[turn])
				}
			}
		}
	}
	return list
}

// wave is how many of the tasks run at the same time: the next of each lane, and no
// pilots next to what needs them.
func wave(tasks []Task) int {
	seen := map[int]bool{}
	for i, t := range tasks {
		if seen[t.Lane] || (t.Role == journal.RolePilot) != (tasks[0].Role == journal.RolePilot) {
			return i
		}
		seen[t.Lane] = true
	}
	return len(tasks)
}

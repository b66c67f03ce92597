package observe

import "slices"

// descend returns all below root, in ascending order; parent is by process id.
func descend(root int, parent map[int]int) []int {
	children := make(map[int][]int)
	for pid, p := range parent {
		children[p] = append(children[p], pid)
	}
	var below []int
	seen := map[int]bool{root: true}
	for next := []int{root}; len(next) > 0; next = next[1:] {
		for _, pid := range children[next[0]] {
			if !seen[pid] {
				seen[pid] = true
				below, next = append(below, pid), append(next, pid)
			}
		}
	}
	slices.Sort(below)
	return below
}

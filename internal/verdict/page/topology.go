package page

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// topology is how the machine's CPUs lie; empty where that is not known.
func topology(t *journal.Topology) string {
	if t == nil {
		return ""
	}
	parts := []string{phrase.Count(t.Sockets, "socket"), phrase.Count(t.Cores, "core")}
	if t.ThreadsPerCore > 1 {
		parts[1] += fmt.Sprintf(" of %d threads", t.ThreadsPerCore)
	}
	if len(t.Nodes) > 1 {
		parts = append(parts, phrase.Count(len(t.Nodes), "NUMA node")+" ("+nodes(t.Nodes)+")")
	}
	if len(t.PerformanceCPUs) > 0 {
		parts = append(parts, fmt.Sprintf("performance cores are CPUs %s, efficiency cores CPUs %s", t.PerformanceCPUs, t.EfficiencyCPUs))
	}
	return phrase.Semicolons(parts)
}

// nodes are nodes of memory with their CPUs: "node0: 0-7; node1: 8-15".
func nodes(list []journal.Node) string {
	var parts []string
	for _, n := range list {
		parts = append(parts, fmt.Sprintf("node%d: %s", n.ID, n.CPUs))
	}
	return phrase.Semicolons(parts)
}

package page

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// originWords say where numbers come from. What a model says is never shown without
// them.
func originWords(o journal.Origin) string {
	switch o {
	case journal.OriginLocal:
		return "measured here"
	case journal.OriginKube:
		return "measured in Kubernetes"
	case journal.OriginSim:
		return "simulated, not measured"
	case verdict.OriginMixed:
		return "not all measured in the same way"
	case "":
		return ""
	}
	return "from " + string(o)
}

// made is how the group's numbers came to be, for the middle of a sentence.
func (g *group) made() string {
	switch g.Origin {
	case journal.OriginKube:
		return "measured in Kubernetes"
	case journal.OriginSim:
		return "simulated"
	}
	return "measured"
}

// titled is a metric's title with where it comes from, unless that is this machine.
func titled(title string, o journal.Origin) string {
	switch o {
	case journal.OriginLocal, "":
		return title
	case journal.OriginSim:
		return title + ", simulated"
	}
	return title + ", " + originWords(o)
}

// noted is a metric's note with where it comes from.
func noted(note string, o journal.Origin) string {
	switch of := originWords(o); {
	case of == "" || o != journal.OriginLocal: // then the title says it
		return note
	case note == "":
		return of
	default:
		return of + ", " + note
	}
}

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

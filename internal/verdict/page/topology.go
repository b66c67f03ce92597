package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// topology is the machine's sockets, cores and nodes of memory; empty where that is not known.
func topology(t *journal.Topology) string {
	if t == nil {
		return ""
	}
	parts := []string{phrase.Count(t.Sockets, "socket"), phrase.Count(t.Cores, "core")}
	if t.ThreadsPerCore > 1 {
		parts[1] += fmt.Sprintf(" of %d threads", t.ThreadsPerCore)
	}
	if len(t.Nodes) > 1 {
		parts = append(parts, phrase.Count(len(t.Nodes), "NUMA node")+" ("+nodeWords(t.Nodes)+")")
	}
	if len(t.PerformanceCPUs) > 0 {
		parts = append(parts, fmt.Sprintf("performance cores are CPUs %s, efficiency cores CPUs %s", t.PerformanceCPUs, t.EfficiencyCPUs))
	}
	if t.Governor != "" {
		parts = append(parts, "CPU governor "+t.Governor)
	}
	return phrase.Semicolons(parts)
}

// nodeWords are nodes of memory with their CPUs: "node0: 0-7; node1: 8-15".
func nodeWords(list []journal.Node) string {
	return phrase.Semicolons(phrase.Each(list, func(n journal.Node) string { return fmt.Sprintf("node%d: %s", n.ID, n.CPUs) }))
}

func cpuCounts(r *verdict.Result) string {
	h := r.Host
	s := strconv.Itoa(h.CPUs) + " online"
	if h.AffinityCPUs > 0 && h.AffinityCPUs != h.CPUs {
		s += fmt.Sprintf(", %d allowed by affinity", h.AffinityCPUs)
	}
	if h.EffectiveCPUs > 0 && h.EffectiveCPUs < float64(h.AffinityCPUs) {
		s += ", limited to " + shortNumber(h.EffectiveCPUs, number.Digits)
	}
	return s
}

// systemWords is that of a host; empty: it is not known, as behind a URL.
func systemWords(h journal.Host) string {
	if h.OS == "" {
		return ""
	}
	return strings.TrimSpace(h.OS + "/" + h.Arch + " " + h.Kernel)
}

package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// topology is the machine's sockets, cores, nodes of memory and caches; empty where that is not
// known.
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
	parts = append(parts, cacheWords(t.Caches)...)
	if len(t.PerformanceCPUs) > 0 {
		parts = append(parts, fmt.Sprintf("performance cores are CPUs %s, efficiency cores CPUs %s", t.PerformanceCPUs, t.EfficiencyCPUs))
	}
	if t.Governor != "" {
		parts = append(parts, "CPU governor "+t.Governor)
	}
	return phrase.Semicolons(parts)
}

// cacheWords are those of the last level, which may be another one for some of the cores: low-power
// cores of Intel's have no L3.
func cacheWords(list []journal.Cache) (parts []string) {
	for len(list) > 0 {
		level := list[0].Level
		parts = append(parts, sameLevel(slices.DeleteFunc(slices.Clone(list), func(c journal.Cache) bool { return c.Level != level })))
		list = slices.DeleteFunc(slices.Clone(list), func(c journal.Cache) bool { return c.Level == level })
	}
	return parts
}

// sameLevel is "2 L3 caches of 16 MiB (0-3; 4-7)". Sizes that differ are not shown.
func sameLevel(list []journal.Cache) string {
	var cpus []string
	size := list[0].Bytes
	for _, c := range list {
		cpus = append(cpus, c.CPUs.String())
		if c.Bytes != size {
			size = 0
		}
	}
	text := phrase.Count(len(list), fmt.Sprintf("L%d cache", list[0].Level))
	if size > 0 {
		text += " of " + number.Short(number.Bytes(float64(size)))
	}
	if len(list) > 1 {
		text += " (" + phrase.Semicolons(cpus) + ")"
	}
	return text
}

// nodeWords are nodes of memory with their CPUs: "node0: 0-7; node1: 8-15".
func nodeWords(list []journal.Node) string {
	var parts []string
	for _, n := range list {
		parts = append(parts, fmt.Sprintf("node%d: %s", n.ID, n.CPUs))
	}
	return phrase.Semicolons(parts)
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

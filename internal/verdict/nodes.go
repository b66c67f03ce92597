package verdict

import (
	"slices"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// spanned are the nodes of memory that have some of the target's CPUs.
func spanned(h journal.Header) (list []journal.Node) {
	if h.TargetHost.Topology == nil {
		return nil
	}
	target, err := cpuset.Parse(targetList(h.Target))
	if err != nil {
		return nil
	}
	for _, n := range h.TargetHost.Topology.Nodes {
		cpus, err := cpuset.Parse(n.CPUs)
		if err != nil {
			return nil
		}
		if target != nil {
			cpus = slices.DeleteFunc(cpus, func(cpu int) bool { return !slices.Contains(target, cpu) })
		}
		if len(cpus) > 0 {
			list = append(list, journal.Node{ID: n.ID, CPUs: cpuset.Format(cpus)})
		}
	}
	return list
}

// nodes adds that a target's memory may be far from where it runs.
func (n *notes) nodes() {
	if list := spanned(n.h); len(list) > 1 && n.h.Target.Attached == nil {
		n.add(-1, Warning{Code: WarnSpansNodes, Nodes: list})
	}
}

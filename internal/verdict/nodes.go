package verdict

import "github.com/procfit/procfit/internal/verdict/journal"

// spanned are the nodes of memory that have some of the target's CPUs.
func spanned(h journal.Header) (list []journal.Node) {
	if h.TargetHost.Topology == nil {
		return nil
	}
	target := h.Target.Had()
	for _, n := range h.TargetHost.Topology.Nodes {
		cpus := n.CPUs
		if len(target) > 0 {
			cpus = cpus.Within(target)
		}
		if len(cpus) > 0 {
			list = append(list, journal.Node{ID: n.ID, CPUs: cpus})
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

package rule

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

func unseenAncestor() Rule {
	return Rule{
		ID:       "PF008",
		Title:    "an ancestor's limit that the runtime does not see",
		Severity: Warning,
		Since:    "0.1",
		Why: `The kernel enforces the limit of every group above a process. The runtime reads
only the process's own (golang/go#81180): in a pod limited to 1.5 CPUs whose
container is limited to 20, it takes 20. The same holds for systemd slices, for
docker --cgroup-parent, and for CI runners that limit the whole job.`,
		Fix:   `Set GOMAXPROCS, import maxprocs/auto, or give the program's own group the limit.`,
		Check: checkUnseenAncestor,
	}
}

func checkUnseenAncestor(s Subject) []Finding {
	l, limited := s.Limit()
	own, found := s.Facts.Own()
	n, known := s.Procs()
	// The runtime's floor of 2 is not the ancestor's doing.
	if !limited || !known || !s.readsLimit || s.SetBy != SetByAuto || found && l.Dir == own.Dir || n <= max(2, s.Fit.Procs) {
		return nil
	}
	its := "none there"
	switch {
	case !found:
		its = "not found"
	case own.State == facts.Known:
		its = number.CPUs(own.CPUs)
	case own.State != facts.Absent && own.State != facts.NoLimit:
		its = string(own.State)
	}
	return []Finding{{
		Message: fmt.Sprintf("%s grants %s, and %s reads only the limit of its own group (%s)", l.Dir, number.CPUs(l.CPUs), s.RuntimeName(), its),
		Fix:     s.setOrImport(),
	}}
}

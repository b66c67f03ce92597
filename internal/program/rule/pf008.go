package rule

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

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

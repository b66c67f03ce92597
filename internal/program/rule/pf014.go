package rule

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/maxprocs/facts"
)

func checkDeadlyLimit(s Subject) []Finding {
	if s.Go.Outcome != facts.Dies || s.ProgramUnknown != "" {
		return nil
	}
	l := facts.Fact{}
	for _, c := range s.Go.Candidates {
		if c.Procs == 0 {
			l.File, l.Raw = c.File, c.Raw
		}
	}
	return []Finding{{
		Message: fmt.Sprintf("%s crashes at start because of %s: %q", s.RuntimeName(), l.File, strings.TrimSpace(l.Raw)),
		Fix:     s.setEnv() + ": it then computes no default",
	}}
}

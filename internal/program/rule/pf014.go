package rule

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/maxprocs/facts"
)

func deadlyLimit() Rule {
	return Rule{
		ID:       "PF014",
		Title:    "a limit that crashes the runtime",
		Severity: Error,
		Since:    "0.1",
		Why: `Since Go 1.25 the runtime turns quota ÷ period into a 32-bit number without a look
at whether it is one. Where the period is 0, as old kernels show it in the root of a
v1 hierarchy, or the ratio is 2147483648 CPUs or more, which the kernel takes for a
quota, a program on x86 throws "procresize: invalid arg" before its first line
(golang/go#80783). GOMAXPROCS in the environment keeps it from the computation, and
so does containermaxprocs=0.`,
		Fix:   `Set GOMAXPROCS in its environment, or give its group a limit that is one, or none.`,
		Check: checkDeadlyLimit,
	}
}

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

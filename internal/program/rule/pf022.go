package rule

import "fmt"

func tooOldForLimits() Rule {
	return Rule{
		ID:       "PF022",
		Title:    "a program that reads no CPU limit",
		Severity: Info,
		Since:    "0.1",
		Why: `Up to Go 1.24 the runtime looks at no CPU limit: wherever this program or image is
given one, it starts with as many Ps as the machine has CPUs, and is throttled. The
program alone does not tell whether it will be; PF006 is the same where the limit is
known.`,
		Fix: `Build with Go 1.25 or newer and go 1.25 in go.mod, or import maxprocs/auto; of software
that others build, set GOMAXPROCS wherever it is given a CPU limit.`,
		Check: checkTooOldForLimits,
	}
}

func checkTooOldForLimits(s Subject) []Finding {
	placed := s.seesMachine() && (s.Written == nil || !s.Written.Image)
	if placed || s.ProgramUnknown != "" || s.Facts.GoVersion == "" || s.releaseReadsLimit || s.Automaxprocs != "" {
		return nil
	}
	if _, counts := s.EnvProcs(); counts {
		return nil
	}
	fix := "build it with Go 1.25 or newer and go 1.25 in go.mod, or import github.com/procfit/procfit/maxprocs/auto"
	if s.Foreign {
		fix = "set GOMAXPROCS wherever it is given a CPU limit, or use a release of it that is built with Go 1.25 or newer"
	}
	return []Finding{{
		Message: fmt.Sprintf("%s reads no CPU limit: under one it takes as many Ps as its machine has CPUs%s", s.goName(), s.unlessSet()),
		Fix:     fix,
	}}
}

package rule

import "fmt"

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

package rule

import "fmt"

func redundantAutomaxprocs() Rule {
	return Rule{
		ID:       "PF007",
		Title:    "automaxprocs where the runtime does it itself",
		Severity: Warning,
		Since:    "0.1",
		Why: `Since Go 1.25 the runtime follows the CPU limit of its group, also when it
changes. go.uber.org/automaxprocs reads it once, rounds down, and by its call of
runtime.GOMAXPROCS ends the runtime's updates for good. Like the runtime it looks at
no ancestor.`,
		Fix:   `Remove the import; where limits of ancestors matter, import maxprocs/auto in its place.`,
		Check: checkAutomaxprocs,
	}
}

func checkAutomaxprocs(s Subject) []Finding {
	if s.Automaxprocs == "" || !s.readsLimit {
		return nil
	}
	if _, env := s.EnvProcs(); env || s.SetBy == SetByAuto {
		return []Finding{{
			Severity: Info,
			Message:  fmt.Sprintf("go.uber.org/automaxprocs %s is linked in and has nothing to do", s.Automaxprocs),
			Fix:      "remove the import of go.uber.org/automaxprocs: where it finds a limit, it ends the updates that " + s.goName() + " makes by itself",
		}}
	}
	return []Finding{{
		Message: fmt.Sprintf("go.uber.org/automaxprocs %s is linked in and ends the updates that %s makes by itself", s.Automaxprocs, s.goName()),
		Fix:     "remove the import of go.uber.org/automaxprocs",
	}}
}

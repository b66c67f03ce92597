package rule

import (
	"fmt"

	"github.com/procfit/procfit/maxprocs/facts"
)

func checkAutomaxprocs(s Subject) []Finding {
	if s.Automaxprocs == "" || !s.readsLimit {
		return nil
	}
	if _, env := s.EnvProcs(); env || s.SetBy == SetByAuto {
		if s.Foreign {
			return nil // it does no harm
		}
		return []Finding{{
			Severity: Info,
			Message:  fmt.Sprintf("go.uber.org/automaxprocs %s is linked in and has nothing to do", s.Automaxprocs),
			Fix:      "remove the import of go.uber.org/automaxprocs: where it finds a limit, it ends the updates that " + s.goName() + " makes by itself",
		}}
	}
	f := Finding{
		Message: fmt.Sprintf("go.uber.org/automaxprocs %s is linked in and ends the updates that %s makes by itself", s.Automaxprocs, s.goName()),
		Fix:     s.withoutAutomaxprocs(),
	}
	if s.Foreign {
		f.Severity = Info
		f.Fix = "nothing, while its limit stays as it is; restart it when that has changed, or set GOMAXPROCS in its environment, which automaxprocs leaves alone"
	}
	return []Finding{f}
}

// withoutAutomaxprocs is its removal, with what then becomes of the value.
func (s Subject) withoutAutomaxprocs() string {
	const remove = "remove the import of go.uber.org/automaxprocs"
	n := s.Unset()
	switch {
	case !s.sized() || s.Facts.Env.State == facts.Unreadable: // what it will be is not known
		return remove
	case n == 0:
		return s.setEnv() + ": without automaxprocs too the runtime crashes at start"
	case n != s.Fit.Procs && s.Reserve > 0:
		return fmt.Sprintf("call %s in its place, which takes %d; the runtime by itself chooses %s", s.setWithReserve(), s.Fit.Procs, value(n))
	case n == 2 && s.Fit.Procs == 1:
		return s.leastOfRuntime(remove)
	case n != s.Fit.Procs:
		return fmt.Sprintf("import github.com/procfit/procfit/maxprocs/auto in its place, which takes %d; the runtime by itself chooses %s", s.Fit.Procs, value(n))
	}
	return fmt.Sprintf("%s: the runtime then chooses %d", remove, n)
}

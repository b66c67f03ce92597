package rule

import (
	"fmt"
	"math"
)

func overriddenEnv() Rule {
	return Rule{
		ID:       "PF013",
		Title:    "GOMAXPROCS in the environment is not in force",
		Severity: Warning,
		Since:    "0.1",
		Why: `The environment sets GOMAXPROCS to a value that counts, and the program runs with
another. The runtime takes the variable at its start; what a call of
runtime.GOMAXPROCS sets later goes before it, and runtime.SetDefaultGOMAXPROCS goes
back to what the limit and the CPUs say. Whoever wrote the variable believes that it
counts, and whoever reads it in a manifest takes it for what the program runs with.
go.uber.org/automaxprocs is not the cause: it leaves a value of the environment
alone. A sweep that sets the value in the environment compares nothing with such a
program.`,
		Fix:   `Remove the variable, or the call; or let the program call only where the variable is not set.`,
		Check: checkOverridden,
	}
}

func checkOverridden(s Subject) []Finding {
	n, overridden := s.Overridden()
	if !overridden {
		return nil
	}
	by := "a call of runtime.GOMAXPROCS in the program goes before it"
	if s.SetBy == SetByAuto {
		by = "its runtime follows its own default again, as after a call of runtime.SetDefaultGOMAXPROCS"
	}
	f := Finding{
		Message: fmt.Sprintf("%s, and GOMAXPROCS=%s in its environment has no effect: %s", s.runs(*s.Live), s.env(), by),
		Fix:     fmt.Sprintf("remove GOMAXPROCS=%s from its environment, or the call if %s is meant", s.env(), s.env()),
	}
	// Where the variable is right and the call is wrong, the call has to go.
	if s.fits(n) && !s.fits(*s.Live) {
		f.Fix = fmt.Sprintf("let the program leave GOMAXPROCS alone where its environment sets it: %s fits its CPUs", s.env())
	}
	return []Finding{f}
}

// fits tells that the value is what its CPUs can feed, rounded down or up.
func (s Subject) fits(n int) bool {
	have := s.Facts.EffectiveCPUs()
	return have > 0 && n <= s.Fit.Procs && float64(n) >= math.Floor(have+1e-6)
}

package explain

import (
	"fmt"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Value is the number of the policy that was asked for, or of fit.
func (e Explanation) Value() (int, error) {
	name := e.policy
	if name == "" {
		name = string(facts.PolicyFit)
	}
	for _, d := range e.decisions {
		if string(d.Policy) == name {
			return e.subject.ValueOf(d)
		}
	}
	return 0, fmt.Errorf("%w: no policy %q", rule.ErrNoValue, name)
}

// Unknown lists what could not be read, so that the value may be too high.
func (e Explanation) Unknown() []string { return e.subject.Facts.Unknown() }

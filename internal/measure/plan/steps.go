package plan

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/number"
)

// Limited is a CPU limit that holds for a while: a step of a resize that is rehearsed.
type Limited struct {
	At, For time.Duration // since the first step
	CPUs    float64
}

const (
	LeastStep = 3 * time.Second // that a limit must hold, for the runtime to follow and for load
	mostSteps = 100
)

const stepsForm = "'0s:2 30s:8 60s:2'"

// ParseSteps reads "0s:2 30s:500m 60s:2": from when, which CPU limit. The last one holds
// as long as the one before it.
func ParseSteps(text string) ([]Limited, error) {
	var steps []Limited
	wrong := func(item, reason string) error {
		return &field.Mistake{Text: item, Reason: reason, Example: stepsForm}
	}
	for _, item := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' }) {
		from, limit, ok := strings.Cut(item, ":")
		if !ok {
			return nil, wrong(item, "expected TIME:CPUS, from when and which CPU limit")
		}
		at, err := time.ParseDuration(from)
		if err != nil || at < 0 {
			return nil, wrong(item, "expected a time such as 30s before the colon")
		}
		list, err := limits(limit)
		if errors.Is(err, number.ErrTooManyCPUs) {
			return nil, err
		}
		if err != nil || len(list) != 1 || list[0] == nil {
			return nil, wrong(item, fmt.Sprintf("expected a CPU limit of at least %g after the colon, in CPUs or thousandths of one", minQuota))
		}
		if n := len(steps); n > 0 {
			steps[n-1].For = at - steps[n-1].At
			switch {
			case steps[n-1].For < LeastStep:
				return nil, wrong(item, fmt.Sprintf("expected a step at least %s after the one before it", number.Chosen(LeastStep)))
			case steps[n-1].CPUs == *list[0]:
				return nil, wrong(item, "expected another CPU limit than that of the step before it")
			}
		} else if at != 0 {
			return nil, wrong(item, "expected the first step at 0s")
		}
		steps = append(steps, Limited{At: at, CPUs: *list[0]})
	}
	switch n := len(steps); {
	case n < 2:
		return nil, wrong(text, "expected two steps or more")
	case n > mostSteps:
		return nil, fmt.Errorf("has %d steps: expected at most %d", n, mostSteps)
	default:
		steps[n-1].For = steps[n-2].For
	}
	return steps, nil
}

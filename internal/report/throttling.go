package report

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/stat"
)

// throttledFew is a share of periods: below it throttling is not what one feels.
const throttledFew = 0.01

// throttling is read the right way round: throttled with more Ps than the quota
// has CPUs, fewer Ps come first; throttled within the quota, it is too small.
func (g *group) throttling() Check {
	c := Check{Question: "Was the target throttled by its CPU quota?", State: Unknown, Answer: "cannot tell"}
	arms := []*stat.ArmResult{g.unset(), g.chosen()}
	if arms[0] == nil && arms[1] == nil {
		arms = []*stat.ArmResult{g.arm(g.Peak)}
	}
	var seen []string
	worst := 0.0
	var over, within bool
	for i, a := range arms {
		if a == nil || a.Evidence.ThrottledPeriodsRatio == nil || i > 0 && a == arms[0] {
			continue
		}
		ratio := *a.Evidence.ThrottledPeriodsRatio
		worst = max(worst, ratio)
		seen = append(seen, fmt.Sprintf("%s: %s of periods", armName(a), percentage().number(ratio)))
		if ratio < throttledFew || g.QuotaCPUs == nil {
			continue
		}
		if p, ok := ps(a); ok {
			over = over || p > 1 && float64(p) > *g.QuotaCPUs
			within = within || p == 1 || float64(p) <= *g.QuotaCPUs
		}
	}
	switch {
	case len(seen) == 0 && g.QuotaCPUs == nil:
		c.State, c.Answer, c.Detail = OK, "no", "procfit set no quota; one around the whole session is not in these figures"
		return c
	case len(seen) == 0:
		c.Detail = "the cgroup's throttling could not be read"
		return c
	}
	c.State, c.Answer, c.Detail = OK, "no", strings.Join(seen, ", ")
	if worst == 0 {
		return c
	}
	c.Answer = "hardly"
	if worst >= throttledFew {
		c.State, c.Answer = Attention, "yes"
	}
	if over {
		c.Detail += "; with more Ps than the quota has CPUs, lower GOMAXPROCS first"
	}
	if within {
		c.Detail += "; with the Ps already within the quota, the quota is too small: raise it"
	}
	return c
}

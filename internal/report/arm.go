package report

import (
	"strconv"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/stat"
)

// arm finds an arm by its label.
func (g *group) arm(label string) *stat.ArmResult {
	for i := range g.Arms {
		if g.Arms[i].Label == label && label != "" {
			return &g.Arms[i]
		}
	}
	return nil
}

// unset is the arm of the program's own default.
func (g *group) unset() *stat.ArmResult {
	for i := range g.Arms {
		if g.Arms[i].Procs == nil && g.Arms[i].Variant == "" {
			return &g.Arms[i]
		}
	}
	return nil
}

// chosen is the arm that the verdict names; nil when it names none.
func (g *group) chosen() *stat.ArmResult { return g.arm(g.Recommendation.Arm) }

// ps is the number of Ps that an arm ran with, as far as it is known.
func ps(a *stat.ArmResult) (int, bool) {
	switch {
	case a == nil:
		return 0, false
	case a.Procs != nil:
		return *a.Procs, true
	case a.ResolvedProcs != nil:
		return *a.ResolvedProcs, true
	}
	return 0, false
}

// armName is how an arm is written: "unset (2)", "4", "4, old".
func armName(a *stat.ArmResult) string {
	label, sub := armLabel(a)
	if sub != "" {
		label += " (" + sub + ")"
	}
	return label
}

// armLabel is an arm's name, and what goes under or after it.
func armLabel(a *stat.ArmResult) (label, sub string) {
	if a.Procs != nil {
		label = strconv.Itoa(*a.Procs)
	} else {
		label = "unset"
		if a.ResolvedProcs != nil {
			sub = strconv.Itoa(*a.ResolvedProcs)
		}
	}
	if a.Variant != "" {
		if a.Variant == journal.VariantAgainst {
			label += ", old"
		} else {
			label += ", " + phrase.Clip(phrase.Clean(a.Variant), nameRoom)
		}
	}
	return label, sub
}

package cli

import (
	"fmt"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// raceFields are the flags of a measurement that ends when its answer is there.
var raceFields = []string{"until", "max-trials", "max-time"}

// setBudget makes the sweep a race, unless the flags ask for what only a grid shows.
func (m *measurement) setBudget(spec *plan.Spec) error {
	grid := m.wantsGrid(*spec)
	for _, flag := range raceFields {
		if grid != "" && m.has(flag) {
			return usageError("--%s has no effect with %s, which measures every setting equally often; use only one of them", flag, grid)
		}
	}
	if grid == "" {
		race := m.spec.Race
		spec.Budget = &race
	}
	return nil
}

// wantsGrid is what asks for a grid, if anything does. The smallest setting that
// carries a rate may be one that no race for the best would look at again, and an earlier
// sweep is compared setting by setting. Within an objective, --rate only asks for a price.
func (m *measurement) wantsGrid(spec plan.Spec) string {
	switch {
	case m.has("repeats"):
		return "--repeats"
	case spec.Load.Rate > 0 && spec.Load.SLO == nil:
		return fmt.Sprintf("--rate %g", spec.Load.Rate)
	case m.baseline != "":
		return "the earlier sweep " + m.baseline
	}
	return ""
}

// checkBudget refuses a budget that ends before anything can be compared.
func checkBudget(s *session.Session) error {
	if !s.Plan.Racing() {
		return nil
	}
	fewest := plan.Fewest(s.Header)
	if s.Plan.MaxTrials < fewest {
		return usageError("--max-trials %d: the first look alone takes %s", s.Plan.MaxTrials, phrase.Count(fewest, "trial"))
	}
	takes := time.Duration(fewest) * s.Each()
	if most := s.Spec.Budget.MaxTime; most > 0 && most < takes {
		return usageError("--max-time %s: the first look alone takes %s, about %s", most, phrase.Count(fewest, "trial"), number.Minutes(takes))
	}
	return nil
}

// race is a race's budget in words.
func race(s *session.Session) string {
	if s.Ended {
		return phrase.Count(s.Done, "trial") + ", all of them done"
	}
	text := "at most " + phrase.Count(s.Plan.MaxTrials, "trial")
	if s.Done > 0 {
		text += fmt.Sprintf(", %d of them done", s.Done)
	}
	left, most := s.Each()*time.Duration(s.Plan.MaxTrials-s.Done), s.Spec.Budget.MaxTime
	switch {
	case most > 0 && left == 0:
		text += ", at most " + number.Minutes(most) + " and the trial that is running then"
	case most > 0 && (left == 0 || most < left):
		text += ", at most " + number.Minutes(most)
	case left > 0:
		text += ", about " + number.Minutes(left)
	}
	text += " (usually fewer"
	if s.Plan.Pilots > 0 {
		text += "; " + phrase.Count(s.Plan.Pilots*len(s.Plan.Groups()), "pilot") + " first"
	}
	if s.Plan.GateAgainst {
		text += ", until it is decided)"
	} else {
		text += fmt.Sprintf(", until %s)", s.Plan.Goal)
	}
	if left == 0 && most == 0 {
		text += "; the first trials will show how long it takes"
	}
	return text
}

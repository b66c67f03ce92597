package race_test

import (
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict/contest/race"
)

// Each rule that noisy machines made necessary is left out once, on curves and under a
// noise where it matters: what it is against is then more frequent by this factor at
// least. The seeds are fixed, and the same with and without the rule.
func TestRulesOfNoisyMachines(t *testing.T) {
	for rule, tc := range map[string]struct {
		noise   string
		curves  []string
		races   int // of each curve
		factor  float64
		against func(Tally) float64
	}{
		"descent": {"outliers", []string{"latency-wants-more"}, 80, 1.5, func(x Tally) float64 { return float64(x.Cannot) }},
		"alone":   {"outliers", []string{"one-is-best"}, 60, 3, func(x Tally) float64 { return float64(x.ProvenWrong) }},
		"harm":    {"bad-vm", []string{"quota-latency", "latency-wants-more"}, 40, 3, func(x Tally) float64 { return float64(x.Harmful) }},
	} {
		noises := Noises()
		noise := noises[slices.IndexFunc(noises, func(n Noise) bool { return n.Name == tc.noise })]
		var with, without Tally
		for _, curve := range tc.curves {
			rules := Rules(4, race.Proven)
			with.Add(Simulate(curve, rules, noise, tc.races))
			without.Add(Simulate(curve, rules.Without(rule), noise, tc.races))
		}
		a, b := tc.against(with), tc.against(without)
		t.Logf("%s, of %d races: %.4g, and %.4g without the rule", rule, with.Runs(), a, b)
		if b == 0 || a*tc.factor > b {
			t.Errorf("%s: %.4g of %d races, and %.4g without the rule: want a factor of %g", rule, a, with.Runs(), b, tc.factor)
		}
	}
}

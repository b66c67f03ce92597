package verdict_test

import (
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
	"github.com/procfit/procfit/test/chance"
)

// askedAfterEachPair is a gate at its end, with how many pairs it took: it is asked after each, as
// procfit compare does.
func askedAfterEachPair(ratio float64, noise *Noise, seed uint64) (*verdict.Gate, int) {
	settings := append([]Truth{Unset(4, 1000*ratio, .010)}, Against(Unset(4, 1000, .010))...)
	h, trials := Generate(Config{Seed: seed, Blocks: 40, Gate: true, NoAA: true, Rate: 200, Noise: noise, Settings: settings})
	h.Plan.Strategy = journal.StrategyRace
	for pairs := 1; ; pairs++ {
		so := trials[:2*pairs]
		if contest.Count(h, so).Duels()[0].End() != "" {
			return verdict.Analyze(h, so).Gate, pairs
		}
	}
}

// A gate of a program against itself fails in at most 1 of 100, and a loss of a tenth is
// found. Outliers hide it from one in eight, which end without an answer.
func TestGateQuality(t *testing.T) {
	n := chance.Sweeps(100)
	for name, c := range map[string]struct {
		noise *Noise
		found float64 // at least
	}{
		"without outliers":              {&Noise{Trial: 0.03, P99: 0.25}, 0.95},
		"2% of outliers, a drift of 8%": {Realistic(), 0.85},
	} {
		worse := func(ratio float64) (count int, pairs float64) {
			for seed := range n {
				g, took := askedAfterEachPair(ratio, c.noise, uint64(seed))
				if pairs += float64(took) / float64(n); slices.ContainsFunc(g.Checks, func(c verdict.GateCheck) bool { return c.Worse }) {
					count++
				}
			}
			return count, pairs
		}
		failed, _ := worse(1)
		found, pairs := worse(0.9)
		t.Logf("%s: of %d gates %d fail a program against itself, %d find a loss of a tenth, after %.1f pairs", name, n, failed, found, pairs)
		if failed > chance.Most(n, 0.01) {
			t.Errorf("%s: %d of %d gates fail a program against itself", name, failed, n)
		}
		if found < chance.Least(n, c.found) {
			t.Errorf("%s: %d of %d gates find a loss of a tenth", name, found, n)
		}
	}
}

// A generator that was late leaves a gate's latency unjudged, and says so.
func TestAGateOfALateLoadSaysSo(t *testing.T) {
	c := versus(1, 1, quiet)
	c.Trial = func(t *journal.Trial) { t.Load.SendLagP99Seconds = new(0.5) }
	g := analyze(c).Gate
	if g.Pass || len(g.Unjudged) != 1 || g.Unjudged[0].Code != verdict.UnjudgedLate {
		t.Errorf("%+v", g)
	}
	for _, check := range g.Checks {
		if check.Judged != (check.Metric == verdict.MetricThroughput) {
			t.Errorf("%+v", check)
		}
	}
}

// A gate that was looked at after each pair is judged by bounds that allow for it, which
// are wider.
func TestAGateThatWasLookedAtHasWiderBounds(t *testing.T) {
	c := versus(0.85, 1, quiet)
	c.Blocks = 14
	h, trials := Generate(c)
	fixed := verdict.Analyze(h, trials).Gate
	h.Plan.Strategy = journal.StrategyRace
	looked := verdict.Analyze(h, trials).Gate
	if len(looked.Checks) != len(fixed.Checks) || looked.Pass || !looked.Checks[0].Worse {
		t.Fatalf("%+v", looked)
	}
	for i := range fixed.Checks {
		a, b := fixed.Checks[i].Bounds, looked.Checks[i].Bounds
		if *b.High-*b.Low <= *a.High-*a.Low {
			t.Errorf("%v within %v", b, a)
		}
	}
}

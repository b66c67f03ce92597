package verdict_test

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
	"github.com/procfit/procfit/test/chance"
)

// A gate of a program against itself fails in at most 1 of 100, and a loss of a tenth is
// found.
func TestGateQuality(t *testing.T) {
	n := sweeps(t, 100)
	failed, found := 0, 0
	for seed := range n {
		same := versus(1, 1, Realistic())
		same.Seed, same.Blocks = uint64(seed), 10
		for _, c := range analyze(same).Gate.Checks {
			if c.Worse {
				failed++
				break
			}
		}
		lost := versus(0.9, 1, &Noise{Trial: 0.03, P99: 0.25})
		lost.Seed, lost.Blocks = uint64(seed), 20
		for _, c := range analyze(lost).Gate.Checks {
			if c.Worse {
				found++
				break
			}
		}
	}
	t.Logf("of %d gates %d fail a program against itself, %d find a loss of a tenth", n, failed, found)
	most, least := 1+n/100, n*95/100
	if n < 100 {
		most, least = chance.Most(n, 0.01), chance.Least(n, 0.95)
	}
	if failed > most {
		t.Errorf("%d of %d gates fail a program against itself", failed, n)
	}
	if found < least {
		t.Errorf("%d of %d gates find a loss of a tenth", found, n)
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

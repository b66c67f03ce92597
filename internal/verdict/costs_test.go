package verdict_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
	"github.com/procfit/procfit/test/chance"
)

// costing gives each open loop the CPU time per request of the Ps that it ran with, in
// milliseconds, which strays by a ratio.
func costing(seed uint64, strays float64, each func(procs int) float64) func(*journal.Trial) {
	r := rand.New(rand.NewPCG(seed, 5))
	return func(t *journal.Trial) {
		for i := range t.Phases {
			p, ms := &t.Phases[i], each(*t.ObservedProcs[0])
			if p.Mode == journal.ModeOpen && ms > 0 {
				seconds := ms * 1e-3 * math.Exp(strays*r.NormFloat64())
				p.Usage = &journal.Usage{MeasuredSeconds: p.DurationSeconds, CPUSeconds: &journal.CPUSeconds{User: seconds * p.AchievedPerSecond * p.DurationSeconds}}
			}
		}
	}
}

// More Ps than the verdict names may have the same throughput, and use more CPU time for it.
func TestCostlier(t *testing.T) {
	settings := []Truth{Unset(2, 1000, .01), Set(1, 600, .01), Set(2, 1000, .01), Set(4, 1000, .01), Set(8, 1000, .01)}
	grows := func(procs int) float64 { return map[int]float64{1: 1, 2: 1, 4: 1.25, 8: 1.6}[procs] }
	for name, c := range map[string]struct {
		mode   journal.Mode
		strays float64
		each   func(int) float64
		change map[int]float64 // by value
	}{
		"it grows":            {journal.ModeOpen, 0.01, grows, map[int]float64{4: 0.25, 8: 0.6}},
		"it is the same":      {journal.ModeOpen, 0.01, func(int) float64 { return 1 }, nil},
		"it grows by 5%":      {journal.ModeOpen, 0.01, func(procs int) float64 { return 1 + 0.05*float64(procs/4) }, map[int]float64{}},
		"it strays too far":   {journal.ModeOpen, 0.8, grows, nil},
		"it falls":            {journal.ModeOpen, 0.01, func(procs int) float64 { return 2 / float64(procs) }, nil},
		"there is no rate":    {journal.ModeClosed, 0.01, grows, nil},
		"it was not measured": {journal.ModeOpen, 0, func(int) float64 { return 0 }, nil},
	} {
		r := analyze(Config{Mode: c.mode, Noise: quiet, Settings: settings, Trial: costing(1, c.strays, c.each)})
		got := reasonsOf[verdict.ReasonCostlier](r.Recommendation)
		if len(got) != len(c.change) {
			t.Errorf("%s: %+v, want %v", name, got, c.change)
		}
		for _, x := range got {
			if want := c.change[x.Of.Procs]; x.Than.Procs != 2 || math.Abs(x.Change-want) > 0.03 || !(x.Bound < x.Change) || x.Bound < 0.10 || x.N != 6 {
				t.Errorf("%s: %d against %d: %+v, want %g", name, x.Of.Procs, x.Than.Procs, x, want)
			}
		}
	}
}

// Where a rate is asked for, values above the smallest that carries it are compared with that
// one. A value that did not keep up answered fewer requests, so it is not compared.
func TestCostlierAtARate(t *testing.T) {
	settings := []Truth{Set(1, 1000, .01), Set(2, 1000, .01), Set(4, 300, .01)}
	twice := func(procs int) float64 { return float64(procs) }
	r := analyze(Config{Noise: quiet, Settings: settings, Rate: 500, SmallFor: true, Trial: costing(1, 0.01, twice)})
	got := reasonsOf[verdict.ReasonCostlier](r.Recommendation)
	if r.Recommendation.Verdict != verdict.SustainsRate || len(got) != 1 || got[0].Of.Procs != 2 || got[0].Than.Procs != 1 {
		t.Errorf("%s: %+v", r.Recommendation.Verdict, got)
	}
}

// If every other value costs 10% more than the default, which is not yet reported, one sweep in
// twenty may report any.
func TestCostlierIsRarelyFalse(t *testing.T) {
	n, claims := chance.Sweeps(400), 0
	settings := []Truth{Unset(2, 1000, .01), Set(2, 1000, .01), Set(3, 1000, .01), Set(4, 1000, .01), Set(6, 1000, .01), Set(8, 1000, .01)}
	for seed := range n {
		each := func(procs int) float64 { return 1 + 0.10*float64(min(1, procs/3)) }
		if len(reasonsOf[verdict.ReasonCostlier](analyze(Config{Seed: uint64(seed), Noise: quiet, Settings: settings, Trial: costing(uint64(seed), 0.05, each)}).Recommendation)) > 0 {
			claims++
		}
	}
	t.Logf("%d of %d sweeps", claims, n)
	if most := chance.Most(n, 0.05); claims > most {
		t.Errorf("%d of %d sweeps report more CPU time per request, at most %d may", claims, n, most)
	}
}

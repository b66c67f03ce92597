package race_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/test/chance"
	"github.com/procfit/procfit/test/need"
)

// gate runs one, at a throughput CV of 3% and a p99 CV of 25%.
func gate(r *rand.Rand, ratio float64, latency bool) (race.Gate, int) {
	var pairs []race.GatePair
	trial := func(ratio float64) race.Trial {
		return race.Trial{Throughput: ratio * math.Exp(0.03*r.NormFloat64()), P99: math.Exp(0.246 * r.NormFloat64())}
	}
	for {
		pairs = append(pairs, race.GatePair{Old: trial(1), New: trial(ratio)})
		if g := race.SequentialGate(race.GateRules{Latency: latency}, pairs); g.Ruling != race.GoOn {
			return g, len(pairs)
		}
	}
}

func TestGate(t *testing.T) {
	runs := chance.Runs(2000)
	for name, tc := range map[string]struct {
		ratio       float64
		latency     bool
		want        race.Ruling
		most, least float64 // share of runs
	}{
		"against itself, not failed":       {1, true, race.Fail, 0.01, 0},
		"against itself, passed":           {1, false, race.Pass, 1, 0.99},
		"a loss of 10%":                    {0.9, true, race.Fail, 1, 0.95},
		"a loss of the margin, not passed": {0.95, false, race.Pass, 0.05, 0},
		"a loss of the margin, not failed": {0.95, false, race.Fail, 0.05, 0},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		count, pairs := 0, 0
		for range runs {
			g, n := gate(r, tc.ratio, tc.latency)
			pairs += n
			if g.Ruling == tc.want {
				count++
			}
		}
		least, most := tc.least*float64(runs), tc.most*float64(runs)
		if !need.Required() {
			least, most = float64(chance.Least(runs, tc.least)), float64(chance.Most(runs, tc.most))
		}
		t.Logf("%s: %s in %d of %d runs, %.1f pairs", name, tc.want, count, runs, float64(pairs)/float64(runs))
		if got := float64(count); got > most || got < least {
			t.Errorf("%s: %s in %d of %d runs, want %.0f to %.0f", name, tc.want, count, runs, least, most)
		}
	}
}

func TestGateOfFewFigures(t *testing.T) {
	failed := race.GatePair{Old: race.Trial{Throughput: 1}, New: race.Trial{Failed: true, Throughput: 1}}
	pairs := make([]race.GatePair, 40)
	for i := range pairs {
		pairs[i] = failed
	}
	g := race.SequentialGate(race.GateRules{}, pairs)
	if g.Ruling != race.Undecided || g.Checks[0].Pairs != 0 {
		t.Errorf("pairs without figures: %+v", g)
	}
	if g := race.SequentialGate(race.GateRules{}, nil); g.Ruling != race.GoOn {
		t.Errorf("no pairs: %+v", g)
	}
}

// A program that alone carries the rate is the better one in latency; where neither does,
// nobody can say.
func TestGateBeyondTheRate(t *testing.T) {
	queue, fine := race.Trial{Throughput: 100, P99: 2, Saturated: true}, race.Trial{Throughput: 100, P99: 0.01}
	for name, tc := range map[string]struct {
		before, after race.Trial
		want          race.Ruling
	}{
		"both carry it":    {fine, fine, race.Pass},
		"only the new one": {queue, fine, race.Pass},
		"only the old one": {fine, queue, race.Fail},
		"neither":          {queue, queue, race.Undecided},
	} {
		var pairs []race.GatePair
		for i := range 20 {
			then, now := tc.before, tc.after
			then.P99 *= 1 + 0.001*float64(i%2)
			pairs = append(pairs, race.GatePair{Old: then, New: now})
		}
		if g := race.SequentialGate(race.GateRules{Margin: 0.05, MarginP99: 0.25, Latency: true, MaxPairs: len(pairs)}, pairs); g.Ruling != tc.want {
			t.Errorf("%s: %s, want %s: %+v", name, g.Ruling, tc.want, g.Checks)
		}
	}
}

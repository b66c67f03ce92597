package race_test

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/contest/race/racetest"
)

// A few races of every curve. docs/VERDICT.md has many; bounds here are what these few
// may stray to.
func TestRaces(t *testing.T) {
	for k, most := range map[int]float64{5: 31, 16: 49} {
		var all racetest.Tally
		for _, name := range racetest.Families() {
			all.Add(racetest.Simulate(name, racetest.Rules(k, race.Proven), racetest.Noises()[0], 8))
		}
		t.Logf("%d values: %.1f trials, %d wrong, %d unnamed, %d proven of %d; intervals hold %.3f and %.3f",
			k, all.MeanTrials(), all.Wrong, all.Cannot, all.Proven, all.Runs(), all.Throughput.Share(), all.P99.Share())
		if got := all.MeanTrials(); got > most {
			t.Errorf("%d values: %.1f trials on average, more than %.0f", k, got, most)
		}
		if all.Wrong > 2 || all.Claims > 1 {
			t.Errorf("%d values: %d of %d wrong, %d claim a difference that is none", k, all.Wrong, all.Runs(), all.Claims)
		}
		if all.Cannot > all.Runs()/20 || all.Proven < all.Runs()*2/3 {
			t.Errorf("%d values: of %d races %d name nothing and %d prove it", k, all.Runs(), all.Cannot, all.Proven)
		}
		if got := all.MeanExcess(); got > 1.2 {
			t.Errorf("%d values: %.2f Ps too many", k, got)
		}
		if min(all.Throughput.Share(), all.P99.Share()) < 0.92 {
			t.Errorf("%d values: intervals hold %.3f and %.3f", k, all.Throughput.Share(), all.P99.Share())
		}
	}
}

// A race until likely takes fewer trials.
func TestRacesUntilLikely(t *testing.T) {
	var all racetest.Tally
	for _, name := range racetest.Families() {
		all.Add(racetest.Simulate(name, racetest.Rules(5, race.Likely), racetest.Noises()[0], 8))
	}
	if all.MeanTrials() > 25 || all.Wrong > 3 || all.Cannot > 4 {
		t.Errorf("%.1f trials, %d of %d wrong, %d unnamed", all.MeanTrials(), all.Wrong, all.Runs(), all.Cannot)
	}
}

// A machine that drifts while it is measured is no reason to claim anything.
func TestRacesUnderDrift(t *testing.T) {
	var all racetest.Tally
	for _, noise := range racetest.Noises() {
		if noise.Name == "drift" || noise.Name == "bursts" {
			for _, name := range []string{"flat", "rise-flat"} {
				all.Add(racetest.Simulate(name, racetest.Rules(5, race.Proven), noise, 12))
			}
		}
	}
	if all.Claims > 1 || all.Wrong > 2 || min(all.Throughput.Share(), all.P99.Share()) < 0.91 {
		t.Errorf("%d of %d claim a difference, %d wrong, intervals hold %.3f and %.3f",
			all.Claims, all.Runs(), all.Wrong, all.Throughput.Share(), all.P99.Share())
	}
}

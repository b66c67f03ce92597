package race_test

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/test/chance"
	"github.com/procfit/procfit/test/need"
)

// of is how many races of every curve are simulated: few, and fewer in the first tier.
func of(all int) int {
	if need.Required() {
		return all
	}
	return all / 4
}

// may is the most of n races that may end so: full is that of the second tier, and share
// is what it represents.
func may(n, full int, share float64) int {
	if need.Required() {
		return full
	}
	return chance.Most(n, share)
}

// hold is the least share of the intervals of n races that hold the truth. Those of one
// race stray together, so that they count as one.
func hold(n int, full float64) float64 {
	if need.Required() {
		return full
	}
	return float64(chance.Least(n, full)) / float64(n)
}

// A few races of every curve. docs/evidence/verdict-simulations.md has many; bounds here are what these few
// may stray to.
func TestRaces(t *testing.T) {
	for k, most := range map[int]float64{5: 31, 16: 51} {
		var all Tally
		for _, name := range Families() {
			all.Add(Simulate(name, Rules(k, race.Proven), Noises()[0], of(8)))
		}
		n := all.Runs()
		t.Logf("%d values: %.1f trials, %d wrong, %d unnamed, %d proven of %d; intervals hold %.3f and %.3f",
			k, all.MeanTrials(), all.Wrong, all.Cannot, all.Proven, all.Runs(), all.Throughput.Share(), all.P99.Share())
		if got := all.MeanTrials(); got > most {
			t.Errorf("%d values: %.1f trials on average, more than %.0f", k, got, most)
		}
		if all.Wrong > may(n, 2, 0.01) || all.Claims > may(n, 1, 0.01) {
			t.Errorf("%d values: %d of %d wrong, %d claim a difference that is none", k, all.Wrong, all.Runs(), all.Claims)
		}
		if all.Cannot > may(n, n/20, 0.05) || n-all.Proven > may(n, n-n*2/3, 1./3) {
			t.Errorf("%d values: of %d races %d name nothing and %d prove it", k, all.Runs(), all.Cannot, all.Proven)
		}
		if got := all.MeanExcess(); got > 1.2 {
			t.Errorf("%d values: %.2f Ps too many", k, got)
		}
		if min(all.Throughput.Share(), all.P99.Share()) < hold(n, 0.92) {
			t.Errorf("%d values: intervals hold %.3f and %.3f", k, all.Throughput.Share(), all.P99.Share())
		}
	}
}

// A race until likely takes fewer trials.
func TestRacesUntilLikely(t *testing.T) {
	var all Tally
	for _, name := range Families() {
		all.Add(Simulate(name, Rules(5, race.Likely), Noises()[0], of(8)))
	}
	n := all.Runs()
	if all.MeanTrials() > 27 || all.Wrong > may(n, 3, 0.05) || all.Cannot > may(n, 4, 0.05) {
		t.Errorf("%.1f trials, %d of %d wrong, %d unnamed", all.MeanTrials(), all.Wrong, all.Runs(), all.Cannot)
	}
}

// A machine that drifts while it is measured is no reason to claim anything.
func TestRacesUnderDrift(t *testing.T) {
	var all Tally
	for _, noise := range Noises() {
		if noise.Name == "drift" || noise.Name == "bursts" {
			for _, name := range []string{"flat", "rise-flat"} {
				all.Add(Simulate(name, Rules(5, race.Proven), noise, of(12)))
			}
		}
	}
	n := all.Runs()
	if all.Claims > may(n, 1, 0.01) || all.Wrong > may(n, 2, 0.01) || min(all.Throughput.Share(), all.P99.Share()) < hold(n, 0.91) {
		t.Errorf("%d of %d claim a difference, %d wrong, intervals hold %.3f and %.3f",
			all.Claims, all.Runs(), all.Wrong, all.Throughput.Share(), all.P99.Share())
	}
}

// After slices of one start a race has fewer values and takes fewer trials, and its answers are as
// good.
func TestRacesAfterSlices(t *testing.T) {
	var alone, after Tally
	for _, name := range Families() {
		alone.Add(Simulate(name, Rules(5, race.Proven), Noises()[0], of(8)))
		after.Add(SimulateSliced(name, Rules(5, race.Proven), Noises()[0], of(8)))
	}
	n := after.Runs()
	t.Logf("%.1f trials of %.1f values after slices, and %.1f without; %d wrong, %d harmful, %d unnamed of %d",
		after.MeanTrials(), float64(after.Kept)/float64(n), alone.MeanTrials(), after.Wrong, after.Harmful, after.Cannot, n)
	if after.MeanTrials() > 0.9*alone.MeanTrials() {
		t.Errorf("%.1f trials on average, and %.1f without slices", after.MeanTrials(), alone.MeanTrials())
	}
	if after.Wrong > may(n, 2, 0.01) || after.Harmful > may(n, 1, 0.002) || after.Cannot > may(n, n/20, 0.05) || after.MeanExcess() > 1.2 {
		t.Errorf("%d of %d wrong, %d harmful, %d unnamed, %.2f Ps too many", after.Wrong, n, after.Harmful, after.Cannot, after.MeanExcess())
	}
}

package verdict_test

import (
	"math"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

func TestSelectedTrials(t *testing.T) {
	settings := append(CPUServer(), Quota(2, Set(2, 100, .1))...)
	_, trials := Generate(Config{Noise: quiet, Settings: settings, Trial: func(t *journal.Trial) { t.Valid = t.Block != 3 }})
	trials = append(trials, journal.Trial{Role: journal.RolePilot, Setting: settings[2].Setting, Valid: true})
	two := contest.OfSetting(trials, settings[2].Setting.Key())
	if len(two) != 6 {
		t.Errorf("%d trials of GOMAXPROCS 2 without a CPU limit, want 6", len(two))
	}
	if unset := contest.OfSetting(trials, settings[0].Setting.Key()); len(unset) != 12 {
		t.Errorf("%d trials of unset, want both copies: 12", len(unset))
	}
	by := contest.ByBlock(two, func(t *journal.Trial) *float64 { return t.ThroughputPerSecond })
	if len(by) != 5 || len(by[0]) != 1 || by[3] != nil {
		t.Errorf("%v", by)
	}
}

// The bounds are those of printed tables (Clopper and Pearson).
func TestProportion(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{0, 10, 0, 0.3085}, {5, 10, 0.1871, 0.8129}, {10, 10, 0.6915, 1}, {1, 20, 0.0013, 0.2487}} {
		got := verdict.Proportion(c.k, c.n)
		if got.N != c.n || math.Abs(*got.Median-float64(c.k)/float64(c.n)) > 1e-12 || math.Abs(*got.Low-c.low) > 1e-4 || math.Abs(*got.High-c.high) > 1e-4 {
			t.Errorf("%d of %d: %g [%g, %g]", c.k, c.n, *got.Median, *got.Low, *got.High)
		}
	}
	for _, c := range [][2]int{{0, 0}, {3, 2}, {-1, 2}} {
		if got := verdict.Proportion(c[0], c[1]); got.Median != nil {
			t.Errorf("%v: %+v", c, got)
		}
	}
}

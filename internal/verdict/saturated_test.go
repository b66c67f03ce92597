package verdict_test

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// That a setting could not carry the rate in two blocks proves as little as any
// other metric of two.
func TestSaturationNeedsBlocks(t *testing.T) {
	for blocks, want := range map[int]bool{2: false, 6: true} {
		h, trials := verdicttest.Generate(verdicttest.Config{
			Settings: []verdicttest.Truth{verdicttest.Set(1, 1000, 0.01), verdicttest.Set(2, 1000, 0.01)},
			Blocks:   blocks, Noise: &verdicttest.Noise{Trial: 0.5, P99: 0.5},
			Trial: func(t *journal.Trial) { t.Saturated = t.Setting.Label == "1" },
		})
		r := verdict.Analyze(h, trials)
		if got := r.Recommendation.Verdict != verdict.Undecided; got != want {
			t.Errorf("%d blocks: %+v", blocks, r.Recommendation)
		}
	}
}

// A value that falls behind the rate in most trials, and has a good p99 in the rest, is neither named
// nor equal to the others, and the report names it.
func TestFallsBehind(t *testing.T) {
	for behind, want := range map[int]verdict.Verdict{0: verdict.NoDifference, 8: verdict.KeepDefault} {
		h, trials := verdicttest.Generate(verdicttest.Config{
			Settings: []verdicttest.Truth{verdicttest.Unset(4, 1000, 0.01), verdicttest.Set(1, 1000, 0.01)},
			Blocks:   12, Noise: &verdicttest.Noise{Trial: 0.01, P99: 0.05},
			Trial: func(t *journal.Trial) { t.Saturated = t.Setting.Label == "1" && t.Block < behind },
		})
		r := verdict.Analyze(h, trials)
		full, _ := warned[verdict.Overloaded](r)
		if r.Recommendation.Verdict != want || len(full.Settings) != min(behind, 1) {
			t.Errorf("%d of 12 trials: %+v, warned of %+v", behind, r.Recommendation, full)
		}
		for _, x := range full.Settings {
			if x != (verdict.LateTrials{Label: "1", Late: behind, Of: 12}) {
				t.Errorf("%+v, want 8 of 12 of 1", x)
			}
		}
	}
}

// A value whose number has no valid trial is in one row with the default that ran with it.
func TestRowsOfOneValue(t *testing.T) {
	h, trials := verdicttest.Generate(verdicttest.Config{
		Settings: []verdicttest.Truth{verdicttest.Unset(2, 1000, 0.01), verdicttest.Set(1, 500, 0.02), verdicttest.Set(2, 1000, 0.01)},
		Blocks:   6,
		Trial: func(t *journal.Trial) {
			if t.Setting.Label == "2" {
				t.Valid, t.InvalidCode, t.InvalidReason = false, journal.InvalidSlow, "slow"
			}
		},
	})
	rows := verdict.Analyze(h, trials).Groups[0].Rows
	if len(rows) != 2 || rows[1].Label != journal.Default || rows[1].Invalid != 6 || len(rows[1].PooledWith) != 1 || rows[1].PooledWith[0] != "2" || len(rows[1].InvalidReasons) != 1 {
		t.Errorf("%d rows, the last %+v, want one of 2", len(rows), rows[len(rows)-1])
	}
}

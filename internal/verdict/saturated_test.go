package verdict

import (
	"testing"

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
		r := Analyze(h, trials)
		if got := r.Recommendation.Verdict != Undecided; got != want {
			t.Errorf("%d blocks: %+v", blocks, r.Recommendation)
		}
	}
}

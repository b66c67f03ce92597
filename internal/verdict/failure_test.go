package verdict_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// A sweep has no verdict only where its target ran in no trial that counts.
func TestFailed(t *testing.T) {
	valid := journal.Trial{Role: journal.RoleMeasure, Valid: true}
	pilot := journal.Trial{Role: journal.RolePilot, Valid: true}
	crash := journal.Trial{Role: journal.RoleMeasure, InvalidCode: journal.InvalidCrashed}
	deaf := journal.Trial{Role: journal.RolePilot, InvalidCode: journal.InvalidNeverReady}
	taken := journal.Trial{Role: journal.RolePilot, InvalidCode: journal.InvalidStolen}
	other := journal.Trial{Role: journal.RoleMeasure, InvalidCode: journal.InvalidProcs}
	for name, c := range map[string]struct {
		trials []journal.Trial
		failed bool
	}{
		"none yet":                    {nil, false},
		"the pilot":                   {[]journal.Trial{deaf}, true},
		"the pilot, after a busy one": {[]journal.Trial{taken, deaf}, true},
		"a pilot alone":               {[]journal.Trial{pilot}, false},
		"all but the pilot":           {[]journal.Trial{pilot, crash, crash}, true},
		"some":                        {[]journal.Trial{pilot, valid, crash}, false},
		"at another GOMAXPROCS":       {[]journal.Trial{other, crash}, false},
		"a busy machine":              {[]journal.Trial{taken}, false},
	} {
		last := verdict.Failed(c.trials)
		if (last != nil) != c.failed || c.failed && last != &c.trials[len(c.trials)-1] {
			t.Errorf("%s: %+v", name, last)
		}
	}
}

// Crashes at all values, or at the low ones, have other causes than a data race.
func TestCrashesFrom(t *testing.T) {
	for _, c := range []struct {
		trials string // values; one that crashed has an x
		want   int
	}{
		{"1 2 4x 1 2 4x", 4},
		{"1 1 1 4x 8 8x", 4}, // 8 may survive
		{"1 2 4x 1 2 4", 0},
		{"1x 2x 1 2", 0},
		{"1x 2 4x 2 2", 0},
		{"1 2 4x 4x", 0},
		{"1 1 2 4x 4x 8", 0}, // and there are more
		{"1 2 4", 0},
	} {
		settings := []verdicttest.Truth{verdicttest.Set(1, 1000, 0.01), verdicttest.Set(2, 1000, 0.01), verdicttest.Set(4, 1000, 0.01), verdicttest.Set(8, 1000, 0.01)}
		h, generated := verdicttest.Generate(verdicttest.Config{Settings: settings, NoAA: true})
		var trials []journal.Trial
		for block, word := range strings.Fields(c.trials) {
			label, crashed := strings.CutSuffix(word, "x")
			i := slices.IndexFunc(generated, func(t journal.Trial) bool { return t.Block == block && t.Setting.Label == label })
			if crashed {
				generated[i].Valid, generated[i].InvalidCode = false, journal.InvalidExit
			}
			trials = append(trials, generated[i])
		}
		if w, _ := warned[verdict.InvalidTrials](verdict.Analyze(h, trials)); w.CrashedFrom != c.want {
			t.Errorf("%s: %d, want %d", c.trials, w.CrashedFrom, c.want)
		}
	}
}

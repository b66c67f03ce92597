package verdict

import (
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
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
		last := Failed(c.trials)
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
		{"1 2 4", 0},
	} {
		var trials []*journal.Trial
		for _, word := range strings.Fields(c.trials) {
			number, crashed := strings.CutSuffix(word, "x")
			procs, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			one := &journal.Trial{Setting: journal.Setting{Procs: &procs}, Valid: !crashed}
			if crashed {
				one.InvalidCode = journal.InvalidExit
			}
			trials = append(trials, one)
		}
		if got := crashesFrom(trials); got != c.want {
			t.Errorf("%s: %d, want %d", c.trials, got, c.want)
		}
	}
}

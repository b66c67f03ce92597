package verdict

import (
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

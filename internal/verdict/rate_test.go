package verdict_test

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

func TestWhatCarriesTheRate(t *testing.T) {
	// open makes the open loop achieve a share of the rate whatever the closed one did.
	open := func(label string, share float64) func(*journal.Trial) {
		return func(t *journal.Trial) {
			if p := &t.Phases[len(t.Phases)-1]; t.Setting.Label == label && p.Mode == journal.ModeOpen {
				p.AchievedPerSecond = share * *p.RatePerSecond
				t.Saturated = share < 0.99
			}
		}
	}
	external := func(t *journal.Trial) { t.Phases = t.Phases[1:] }
	for _, c := range []struct {
		name    string
		config  Config
		verdict verdict.Verdict
		setting string
		code    verdict.Code
	}{
		{"just below the threshold", Config{Rate: 20000, Trial: open("2", 0.98996)}, verdict.SustainsRate, "4", ""},
		{"queues hide what the closed loop shows", Config{Rate: 24000, Trial: open("2", 0.995)}, verdict.SustainsRate, "4", ""},
		{"the low end counts", Config{Rate: 23400, Seed: 3, Noise: &Noise{Trial: .03}, Trial: open("2", 1)}, verdict.SustainsRate, "4", ""},
		{"without an interval the median", Config{Rate: 24000, Blocks: 4, Trial: open("2", 1)}, verdict.SustainsRate, "4", ""},
		{"a load command has no closed loop", Config{Rate: 24000, Trial: func(t *journal.Trial) { open("2", 1)(t); external(t) }}, verdict.SustainsRate, "2", ""},
		{"two trials", Config{Rate: 20000, Blocks: 2}, verdict.Undecided, "", "rate_few_blocks"},
	} {
		c.config.SmallFor, c.config.Settings = true, CPUServer()
		if c.config.Noise == nil {
			c.config.Noise = quiet
		}
		rec := analyze(c.config).Recommendation
		carried := 0
		for _, x := range reasonsOf[verdict.ReasonCarried](rec) {
			if x.Trials > 0 {
				carried++
			}
		}
		if rec.Verdict != c.verdict || rec.Setting != c.setting || rec.Claim.Code() != c.code || carried == 0 {
			t.Errorf("%s: %s of %q, want %s of %q:\n%+v", c.name, rec.Verdict, rec.Setting, c.verdict, c.setting, rec)
		}
	}
}

package verdict_test

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

// A value is named only if it and the default were seen to run. If the user said that they
// cannot be seen, and where nothing was counted of other programs, it is likely at most.
func TestOnlyWhatWasSeenIsNamed(t *testing.T) {
	unread := func(which ...string) func(*journal.Trial) {
		return func(t *journal.Trial) {
			for _, label := range which {
				if t.Setting.Label == label || label == "all" {
					t.ObservedProcs = []*int{nil}
				}
			}
		}
	}
	better := []Truth{Unset(8, 1000, .02), Set(1, 900, .02), Set(2, 1300, .02), Set(8, 1000, .02)}
	asGood := []Truth{Unset(8, 1000, .02), Set(1, 500, .02), Set(8, 1000, .02)}
	same := []Truth{Unset(8, 1000, .02), Set(1, 1000, .02), Set(8, 1000, .02)}
	for name, c := range map[string]struct {
		settings   []Truth
		trial      func(*journal.Trial)
		any        bool
		verdict    verdict.Verdict
		confidence verdict.Confidence
		cause      verdict.ReasonCode
	}{
		"all is read":                        {better, nil, false, verdict.Recommended, verdict.Proven, ""},
		"nothing is read":                    {better, unread("all"), false, verdict.CannotTell, "", verdict.CauseUnseen},
		"nothing can be read":                {better, unread("all"), true, verdict.Recommended, verdict.Likely, ""},
		"the value is not read":              {better, unread("2"), false, verdict.CannotTell, "", verdict.CauseUnseen},
		"the value cannot be read":           {better, unread("2"), true, verdict.Recommended, verdict.Likely, ""},
		"another value is not read":          {better, unread("1"), false, verdict.Recommended, verdict.Proven, ""},
		"the default is not read":            {better, unread("unset"), false, verdict.CannotTell, "", verdict.CauseUnseen},
		"the default cannot be read":         {better, unread("unset"), true, verdict.Recommended, verdict.Proven, ""},
		"it can be read all the same":        {better, nil, true, verdict.Recommended, verdict.Proven, ""},
		"no default is asked for":            {better[1:], nil, false, verdict.Recommended, verdict.Proven, ""},
		"the default as a number is read":    {asGood, unread("8"), false, verdict.KeepDefault, verdict.Proven, ""},
		"the default is kept, unread":        {asGood, unread("unset", "8"), false, verdict.CannotTell, "", verdict.CauseUnseen},
		"no trial of the default is valid":   {better, func(t *journal.Trial) { t.Valid = t.Setting.Procs != nil }, true, verdict.CannotTell, "", verdict.CauseNoDefault},
		"nothing differs, and one is unread": {same, unread("1"), false, verdict.CannotTell, "", verdict.CauseUnseen},
		"nothing differs, unread":            {same, unread("all"), true, verdict.CannotTell, "", verdict.CauseUnseen},
		"nothing is counted":                 {better, func(t *journal.Trial) { t.HostUse = nil }, false, verdict.Recommended, verdict.Likely, ""},
		"nothing differs, nothing counted":   {same, func(t *journal.Trial) { t.HostUse = nil }, false, verdict.CannotTell, "", verdict.CauseUncounted},
	} {
		for _, rate := range []float64{0, 600} {
			h, trials := Generate(Config{Noise: quiet, Settings: c.settings, Trial: c.trial, Rate: rate, SmallFor: rate > 0})
			h.Target.AnyProgram = c.any
			got := verdict.Analyze(h, trials).Groups[0].Recommendation
			want := c.verdict
			if rate > 0 {
				if got.Verdict == verdict.CarriesRate && got.Confidence == verdict.Proven && c.confidence == verdict.Likely && c.cause == "" && name != "the value cannot be read" {
					t.Errorf("%s, at a rate: %s %s", name, got.Verdict, got.Confidence)
				}
				continue
			}
			if got.Verdict != want || got.Confidence != c.confidence || got.Claim.Code != c.cause && c.cause != "" {
				t.Errorf("%s: %s %s %q, want %s %s %q", name, got.Verdict, got.Confidence, got.Claim.Code, want, c.confidence, c.cause)
			}
			if (got.Confidence == verdict.Likely || got.Verdict == verdict.CannotTell) && len(got.Settle) == 0 {
				t.Errorf("%s: nothing says what would settle it", name)
			}
			if got.Verdict == verdict.CannotTell && (got.Procs != nil || got.Setting != "") {
				t.Errorf("%s: it names %v %q", name, got.Procs, got.Setting)
			}
		}
	}
}

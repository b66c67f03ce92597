package verdict_test

import (
	"cmp"
	"slices"
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
	late := func(t *journal.Trial) { t.Load.SendLagP99Seconds = nil }
	type answer struct {
		verdict    verdict.Verdict
		confidence verdict.Confidence
		cause      verdict.Code
	}
	proven, likely := answer{verdict.Recommended, verdict.Proven, ""}, answer{verdict.Recommended, verdict.Likely, ""}
	carries, mayCarry := answer{verdict.SustainsRate, verdict.Proven, ""}, answer{verdict.SustainsRate, verdict.Likely, ""}
	kept, unseen := answer{verdict.KeepDefault, verdict.Proven, ""}, answer{verdict.Undecided, "", "unseen"}
	noDefault, uncounted := answer{verdict.Undecided, "", "no_default"}, answer{verdict.Undecided, "", "uncounted"}
	for name, c := range map[string]struct {
		settings []Truth
		trial    func(*journal.Trial)
		any      bool
		want     answer
		atRate   answer // with a rate that 1 carries, but where it is 500
	}{
		"all is read":                        {better, nil, false, proven, carries},
		"nothing is read":                    {better, unread("all"), false, unseen, unseen},
		"nothing can be read":                {better, unread("all"), true, likely, mayCarry},
		"the value is not read":              {better, unread("2"), false, unseen, carries},
		"the value cannot be read":           {better, unread("2"), true, likely, carries},
		"another value is not read":          {better, unread("1"), false, proven, unseen},
		"another value cannot be read":       {better, unread("1"), true, proven, mayCarry},
		"the default is not read":            {better, unread("default"), false, unseen, unseen},
		"the default cannot be read":         {better, unread("default"), true, likely, mayCarry},
		"it can be read all the same":        {better, nil, true, proven, carries},
		"no default is asked for":            {better[1:], nil, false, proven, carries},
		"the default as a number is read":    {asGood, unread("8"), false, kept, carries},
		"the default is kept, unread":        {asGood, unread("default", "8"), false, unseen, unseen},
		"no trial of the default is valid":   {better, func(t *journal.Trial) { t.Valid = t.Setting.Procs != nil }, true, noDefault, noDefault},
		"nothing differs, and one is unread": {same, unread("1"), false, unseen, unseen},
		"nothing differs, unread":            {same, unread("all"), true, unseen, mayCarry},
		"nothing is counted":                 {better, func(t *journal.Trial) { t.HostUse = nil }, false, likely, mayCarry},
		"only the open loop is counted": {better, func(t *journal.Trial) {
			open := t.Usage
			t.HostUse, t.Phases[len(t.Phases)-1].Usage = nil, &open
		}, false, likely, mayCarry},
		"how late the load was is not known":    {better, late, false, likely, carries},
		"nothing differs, with an unknown load": {same, late, false, answer{verdict.Undecided, "", "lag_unknown"}, carries},
		"nothing differs, nothing counted":      {same, func(t *journal.Trial) { t.HostUse = nil }, false, uncounted, mayCarry},
	} {
		for rate, want := range map[float64]answer{0: c.want, 600: c.atRate} {
			h, trials := Generate(Config{Noise: quiet, Settings: c.settings, Trial: c.trial, Rate: rate, SmallFor: rate > 0})
			h.Target.AnyProgram = c.any
			got := verdict.Analyze(h, trials).Groups[0].Recommendation
			if got.Verdict != want.verdict || got.Confidence != want.confidence || got.Claim.Code() != want.cause && want.cause != "" {
				t.Errorf("%s, at rate %g: %s %s %q, want %+v", name, rate, got.Verdict, got.Confidence, got.Claim.Code(), want)
			}
			if (got.Confidence == verdict.Likely || got.Verdict == verdict.Undecided) && len(got.Next) == 0 {
				t.Errorf("%s, at rate %g: nothing says what would decide it", name, rate)
			}
			if got.Verdict == verdict.Undecided && (got.Procs != nil || got.Setting != "") {
				t.Errorf("%s, at rate %g: it names %v %q", name, rate, got.Procs, got.Setting)
			}
		}
	}
}

// What a load through the API server shows is likely at most, and that nothing differs, or that no
// value carries a rate, may be due to the API server.
func TestThroughTheAPIServer(t *testing.T) {
	same := []Truth{Unset(8, 1000, .02), Set(1, 1000, .02), Set(8, 1000, .02)}
	better := []Truth{Unset(8, 1000, .02), Set(1, 900, .02), Set(2, 1300, .02), Set(8, 1000, .02)}
	for name, c := range map[string]struct {
		config     Config
		verdict    verdict.Verdict
		confidence verdict.Confidence
		cause      verdict.Code
	}{
		"better":                         {Config{Settings: better}, verdict.Recommended, verdict.Likely, ""},
		"better, and nothing is counted": {Config{Settings: better, Trial: func(t *journal.Trial) { t.HostUse = nil }}, verdict.Recommended, verdict.Likely, ""},
		"the same":                       {Config{Settings: same}, verdict.Undecided, "", "load_tunnel"},
		"carries":                        {Config{Settings: better, Rate: 600, SmallFor: true}, verdict.SustainsRate, verdict.Likely, ""},
		"the same, with few trials":      {Config{Settings: same, Blocks: 2}, verdict.KeepDefault, verdict.Likely, ""},
		"trials vary too much":           {Config{Settings: same, Noise: &Noise{Trial: 0.5}}, verdict.Undecided, "", ""},
		"does not carry":                 {Config{Settings: better, Rate: 20000, SmallFor: true}, verdict.Undecided, "", "rate_not_carried"},
	} {
		c.config.Noise = cmp.Or(c.config.Noise, quiet)
		h, trials := Generate(c.config)
		h.Load.Arrangement = new(journal.ArrangementTunnel)
		rec := verdict.Analyze(h, trials).Recommendation
		if rec.Verdict != c.verdict || rec.Confidence != c.confidence || c.cause != "" && rec.Claim.Code() != c.cause || len(rec.Next) == 0 || rec.Next[0].Code != verdict.StepLoadElsewhere || slices.ContainsFunc(rec.Next[1:], func(s verdict.Step) bool { return s.Code != verdict.StepLessRate }) {
			t.Errorf("%s: %+v", name, rec)
		}
		if cause, is := rec.Claim.(verdict.CauseRateNotCarried); is && cause.Proven {
			t.Errorf("%s: it is proven", name)
		}
	}
}

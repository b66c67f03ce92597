package verdict_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

// Where trials fail, that is the cause and not that too few values were measured: more values would fail
// in the same way.
func TestWhatFailsIsTheCause(t *testing.T) {
	fails := func(code journal.InvalidCode, ran int, labels ...string) func(*journal.Trial) {
		return func(t *journal.Trial) {
			if slices.Contains(labels, t.Setting.Label) {
				t.Valid, t.InvalidCode, t.ThroughputPerSecond, t.LatencySeconds = false, code, nil, nil
				if ran > 0 {
					t.ObservedProcs = []*int{&ran}
				}
			}
		}
	}
	for _, c := range []struct {
		name  string
		trial func(*journal.Trial)
		cause verdict.Remark
		step  verdict.StepCode
	}{
		{"the program sets its own value", fails(journal.InvalidProcs, 4, "1", "2"), verdict.CauseOverridden{}, verdict.StepFindDerived},
		{"others crash", fails(journal.InvalidCrashed, 0, "1", "2"), verdict.CauseOneValue{}, verdict.StepFix},
		{"the default crashes", fails(journal.InvalidCrashed, 0, "default"), verdict.CauseNoDefault{}, verdict.StepFix},
		{"the default and others crash", fails(journal.InvalidCrashed, 0, "default", "1", "2"), verdict.CauseNoDefault{}, verdict.StepFix},
		{"all crash", fails(journal.InvalidCrashed, 0, "default", "1", "2", "4"), verdict.CauseNoneValid{}, verdict.StepFix},
	} {
		for _, strategy := range []journal.Strategy{"", journal.StrategyRace} {
			h, trials := Generate(Config{Noise: quiet, Settings: []Truth{Unset(4, 4000, .01), Set(1, 1000, .01), Set(2, 2000, .01), Set(4, 4000, .01)}, Trial: c.trial, NoAA: true})
			h.Plan.Strategy, h.Plan.MaxTrials = strategy, 40
			got := verdict.Analyze(h, trials).Recommendation
			if got.Verdict != verdict.Undecided || reflect.TypeOf(got.Claim) != reflect.TypeOf(c.cause) || len(got.Next) != 1 || got.Next[0].Code != c.step {
				t.Errorf("%s, strategy %q: %s, %T %+v, %v; want %T, %s", c.name, strategy, got.Verdict, got.Claim, got.Claim, got.Next, c.cause, c.step)
			}
		}
	}
}

// Nothing is to be set in place of a default that nobody measured, also where its value is known.
func TestAnUnmeasuredDefaultIsUnclear(t *testing.T) {
	for _, c := range []struct {
		settings []Truth
		smallest bool
		want     bool
	}{
		{[]Truth{Set(1, 1000, .01), Set(2, 2000, .01)}, false, true},
		{[]Truth{Set(1, 1000, .01), Set(2, 2000, .01)}, true, false}, // that it sustains the rate is no comparison
		{[]Truth{Set(2, 2000, .01), Set(4, 4000, .01)}, false, false},
		{[]Truth{Unset(4, 4000, .01), Set(2, 2000, .01)}, false, false},
	} {
		g := analyze(Config{Noise: quiet, CPUs: 4, Rate: 500, SmallFor: c.smallest, Settings: c.settings}).Groups[0]
		if g.Recommendation.Setting == "" || g.Unclear() != c.want {
			t.Errorf("%+v: %s %s, unclear %v, want %v", c.settings, g.Recommendation.Verdict, g.Recommendation.Setting, g.Unclear(), c.want)
		}
	}
}

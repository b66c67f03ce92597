package verdict_test

import (
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

func TestDefaultIsJudgedByTheRuntimesRule(t *testing.T) {
	for _, c := range []struct {
		name             string
		resolved         int
		affinity         int
		effective, quota float64
		server           cpuset.Set
		want             verdict.DefaultStanding
	}{
		{"all CPUs", 8, 8, 8, 0, nil, verdict.DefaultAll},
		{"a quota that is not seen", 8, 8, 8, 3, nil, verdict.DefaultUnseenLimit},
		{"a limit around that is not seen", 8, 8, 2, 0, nil, verdict.DefaultUnseenLimit},
		{"never below two", 2, 2, 2, 0.5, nil, verdict.DefaultFloor},
		{"a quota rounded up", 3, 8, 8, 2.5, nil, verdict.DefaultLimit},
		{"a small quota", 2, 8, 8, 0.5, nil, verdict.DefaultLimit},
		{"unexplained", 5, 8, 8, 0, nil, verdict.DefaultUnexplained},
		{"a server cpuset", 3, 8, 8, 0, cpuset.Set{0, 1, 2}, verdict.DefaultAll},
		{"affinity not known", 8, 0, 8, 0, nil, verdict.DefaultUnknown},
	} {
		settings := []Truth{Unset(c.resolved, 1000, .01), Set(1, 500, .01)}
		if c.quota > 0 {
			settings = Quota(c.quota, settings...)
		}
		h, trials := Generate(Config{Noise: quiet, Settings: settings})
		h.TargetHost.AffinityCPUs, h.TargetHost.EffectiveCPUs, h.Target.ServerCPUs = c.affinity, c.effective, c.server
		if got := verdict.Analyze(h, trials).Groups[0].Default; got.Standing != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}

// Where every release chooses the same, the default is known without a trial of it; a program that was
// seen to set its own value has another.
func TestDefaultIsPredicted(t *testing.T) {
	for _, c := range []struct {
		name             string
		affinity         int
		effective, quota float64
		trial            func(*journal.Trial)
		want             bool
	}{
		{"no limit", 8, 8, 0, nil, true},
		{"a limit below the floor", 2, 2, 0.5, nil, true},
		{"the go line decides", 8, 8, 3, nil, false},
		{"affinity not known", 0, 8, 0, nil, false},
		{"the program sets it", 8, 8, 0, func(t *journal.Trial) {
			t.ObservedProcs, t.Valid, t.InvalidCode = []*int{new(4)}, false, journal.InvalidProcs
		}, false},
	} {
		settings := []Truth{Set(1, 500, .01), Set(2, 1000, .01)}
		if c.quota > 0 {
			settings = Quota(c.quota, settings...)
		}
		h, trials := Generate(Config{Noise: quiet, Settings: settings, Trial: c.trial})
		h.TargetHost.AffinityCPUs, h.TargetHost.EffectiveCPUs = c.affinity, c.effective
		got := verdict.Analyze(h, trials).Groups[0].Default
		if got.Predicted != c.want || c.want && (*got.Procs != c.affinity || got.Standing == verdict.DefaultUnknown) || !c.want && got.Procs != nil {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestACallThatOverridesIsFound(t *testing.T) {
	runsAt := func(n int, valid bool, code journal.InvalidCode) func(*journal.Trial) {
		return func(t *journal.Trial) {
			if t.Setting.Label == "2" {
				t.ObservedProcs, t.Valid, t.InvalidCode = []*int{&n}, valid, code
			}
		}
	}
	for name, c := range map[string]struct {
		trial func(*journal.Trial)
		made  bool
		ran   int
	}{
		"as asked":              {nil, false, 0},
		"in invalid trials":     {runsAt(8, false, journal.InvalidProcs), true, 8},
		"changed in the middle": {runsAt(2, false, journal.InvalidProcsChanged), true, 0},
		"invalid for another":   {runsAt(2, false, journal.InvalidCrashed), false, 0},
	} {
		got := analyze(Config{Noise: quiet, Settings: CPUServer(), Trial: c.trial}).Groups[0].Override
		if (got.Ran > 0 || got.Changed) != c.made || got.Ran != c.ran {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestOriginGoesWithTheTrials(t *testing.T) {
	for want, trial := range map[journal.Origin]func(*journal.Trial){
		journal.OriginLocal: nil,
		journal.OriginKube:  func(t *journal.Trial) { t.Origin = journal.OriginKube },
		verdict.OriginMixed: func(t *journal.Trial) {
			if t.Block == 1 {
				t.Origin = journal.OriginKube
			}
		},
	} {
		r := analyze(Config{Noise: quiet, Settings: CPUServer(), Trial: trial})
		if r.Origin != want || r.Groups[0].Origin != want {
			t.Errorf("%s and %s, want %s", r.Origin, r.Groups[0].Origin, want)
		}
		asked := analyze(Config{Noise: quiet, Settings: CPUServer(), Trial: trial, Rate: 30000, SmallFor: true})
		for _, rec := range []*verdict.Recommendation{r.Recommendation, asked.Recommendation} {
			if mixed := rec.Claim.Code() == "mixed_origins"; mixed != (want == verdict.OriginMixed) {
				t.Errorf("%s: %+v", want, rec)
			}
		}
	}
}

func TestTheProgramIsWhatTheTrialsSaw(t *testing.T) {
	saw := func(t *journal.Trial) { t.ObservedGoVersion, t.ObservedMainModule = "go1.25.3", "example.com/seen" }
	h, trials := Generate(Config{Noise: quiet, Settings: CPUServer(), Trial: saw})
	if got := verdict.Analyze(h, trials).Target; got.GoVersion != "go1.26.0" || got.MainModule != "example.com/seen" {
		t.Errorf("%+v", got)
	}
	h.Target.GoVersion = ""
	if got := verdict.Analyze(h, trials).Target; got.GoVersion != "go1.25.3" {
		t.Errorf("%+v", got)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	of := func(unanswered, redirects float64) func(*journal.Trial) {
		return func(t *journal.Trial) {
			for i := range t.Phases {
				p := &t.Phases[i]
				p.Unanswered, p.Redirects = int64(unanswered*float64(p.Requests)), int64(redirects*float64(p.Requests))
			}
		}
	}
	for name, c := range map[string]struct {
		trial          func(*journal.Trial)
		lost, redirect bool
	}{
		"what is on its way":  {of(0.001, 0.01), false, false},
		"many never answered": {of(0.1, 0), true, false},
		"many in a small phase": {func(t *journal.Trial) {
			last := &t.Phases[len(t.Phases)-1]
			last.Requests, last.Unanswered = 90, 10
		}, true, false},
		"nothing but redirects":  {of(0, 1), false, true},
		"most answers redirects": {of(0, 0.6), false, true},
		"redirects at one value": {func(t *journal.Trial) {
			if t.Setting.Label == "2" {
				of(0, 1)(t)
			}
		}, false, true},
	} {
		r := analyze(Config{Noise: quiet, Settings: CPUServer(), Trial: c.trial})
		if has[verdict.Unanswered](r) != c.lost || has[verdict.Redirects](r) != c.redirect {
			t.Errorf("%s: %v", name, codes(r))
		}
	}
}

func TestCPUARequestInBothLoops(t *testing.T) {
	a := analyze(Config{Noise: quiet, Settings: CPUServer(), Trial: func(t *journal.Trial) {
		u := t.Usage
		u.CPUSeconds = &journal.CPUSeconds{User: 0.65 * t.CPUSeconds.Total()} // at half the rate
		t.Phases[1].Usage = &u
	}}).Groups[0].Settings[0]
	if a.OpenEvidence == nil {
		t.Fatal("nothing of the open loop")
	}
	if ratio := *a.OpenEvidence.CPUSecondsEach / *a.Evidence.CPUSecondsEach; ratio < 1.2 || ratio > 1.4 {
		t.Errorf("%g s and %g s a request", *a.OpenEvidence.CPUSecondsEach, *a.Evidence.CPUSecondsEach)
	}
}

// A server that already ran has an open loop alone, whose usage is the trial's.
func TestCPUARequestInTheOpenLoop(t *testing.T) {
	r := analyze(Config{Noise: quiet, Settings: CPUServer(), Trial: func(t *journal.Trial) {
		t.Phases = t.Phases[1:]
		t.Phases[0].Usage = &t.Usage
	}})
	a := r.Groups[0].Settings[0]
	if e := a.Evidence; e.CPUSecondsEach == nil || e.CPUs == nil || a.OpenEvidence == nil || *a.OpenEvidence.CPUSecondsEach != *e.CPUSecondsEach {
		t.Errorf("of %v CPUs %v s a request", e.CPUs, e.CPUSecondsEach)
	}
}

// A journal may be anyone's.
func TestAbsurdPlansAreAnalysedSoon(t *testing.T) {
	h, trials := Generate(Config{Noise: quiet, Settings: CPUServer()})
	start := time.Now()
	for _, bend := range []func(*journal.Plan){
		func(p *journal.Plan) { p.Blocks = 1 << 62 },
		func(p *journal.Plan) { p.Blocks, p.Settings, p.AA = 1<<40, nil, nil },
		func(p *journal.Plan) { p.Blocks = -5 },
		func(p *journal.Plan) { p.Margin, p.MarginP99 = 1e308, -1e308 },
		func(p *journal.Plan) { p.Margin, p.MarginP99 = -1, 1e308 },
	} {
		with := h
		bend(&with.Plan)
		if r := verdict.Analyze(with, trials); r.TrialsPlanned < 0 {
			t.Errorf("%d trials planned", r.TrialsPlanned)
		}
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("five analyses took %v", took)
	}
}

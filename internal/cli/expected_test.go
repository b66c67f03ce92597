package cli

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/program/expected"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/internal/verdict/results"
	"github.com/procfit/procfit/internal/verdict/slo"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
	"github.com/procfit/procfit/test/must"
)

// of are results with these trials.
func of(trials []journal.Trial) *results.Results {
	return &results.Results{Contents: &journal.Contents{Trials: trials}}
}

// TestExpectedOf: what is kept of a verdict is its value with what it was measured under.
func TestExpectedOf(t *testing.T) {
	uber := verdicttest.Config{Settings: verdicttest.Uber(), Blocks: 20, Trial: func(t *journal.Trial) {
		if t.ObservedProcs[0] != nil { // half the rate, and a tenth less work for each request
			open := t.Usage
			cpu := *open.CPUSeconds
			cpu.User, cpu.System = cpu.User*0.45, cpu.System*0.45
			open.CPUSeconds = &cpu
			t.Phases[1].Usage = &open
			t.Phases[1].AchievedPerSecond = t.Phases[0].AchievedPerSecond / 2
		}
	}}
	h, trials := verdicttest.Generate(uber)
	h.Target.Command, h.Target.Revision = []string{"env", "PORT={port}", "./bin/api", "-v"}, "4f2a91c" // as with --env
	h.Spec = spec.Spec{Command: "sweep", Program: []string{"./bin/api", "-v"}}.With(spec.Set("limit", "2"), spec.Set("out", "r"), spec.Set("seed", "3"))
	e, err := expectedOf(verdict.Analyze(h, trials), of(trials))
	must.OK(t, err)
	if e.Program != "api" || e.Procs != 2 || e.LimitCPUs == nil || *e.LimitCPUs != 2 || e.CPUs != 8 || e.GoVersion != "go1.26.0" || e.Measured != "2026-03-14" || e.Commit != "4f2a91c" {
		t.Errorf("%s", expected.Text(e))
	}
	if got := strings.Join(e.Again, " "); got != "sweep --limit 2 --seed 3 -- ./bin/api -v" {
		t.Errorf("again: %s", got)
	}
	// About 44,700 requests per second of 1.9 CPUs.
	if r := e.Requests; r == nil || r.Min > 25e3 || r.Min < 15e3 || r.Max < 40e3 || r.Max > 60e3 {
		t.Errorf("%+v", r)
	}

	h.Spec = h.Spec.With(spec.Set("body", "{\n}"))
	if e, err = expectedOf(verdict.Analyze(h, trials), of(trials)); err != nil || e.Again != nil || e.Procs != 2 {
		t.Errorf("a body of two lines: %v: %s", err, expected.Text(e))
	}

	c := pagetest.LiveContents()
	l := live.Analyze(c)
	for given, want := range map[string]string{"go1.25.1 X:jsonv2": "go1.25.1", "go1.24.6 (Red Hat 1.24.6-1.el9_6)": "go1.24.6", "devel +5d1a95175e": ""} {
		vendors := live.Analyze(c)
		vendors.Target.GoVersion = given
		if e, err = expectedOf(vendors, of(c.Trials)); err != nil || e.GoVersion != want {
			t.Errorf("%s: %v: %s", given, err, expected.Text(e))
		}
	}
	e, err = expectedOf(l, of(c.Trials))
	if err != nil || e.Procs != 1 || e.LimitCPUs == nil || *e.LimitCPUs != 2 || e.GoVersion != "go1.26.8" || e.Requests == nil || e.Program != "" {
		t.Errorf("%v: %s", err, expected.Text(e))
	}
	l.Live.Least = 0 // as of a slice without a request
	if e, err = expectedOf(l, of(c.Trials)); err != nil || e.Requests != nil || e.Procs != 1 {
		t.Errorf("%v: %s", err, expected.Text(e))
	}
	l.Live.LimitCPUs, l.Live.LimitUnknown = 0, true // which is not none
	if e, err = expectedOf(l, of(c.Trials)); err == nil || !strings.Contains(err.Error(), "could not be read") {
		t.Errorf("%v: %s", err, expected.Text(e))
	}
}

// TestProgramName: what is kept is for the program, whatever starts it.
func TestProgramName(t *testing.T) {
	for want, target := range map[string]journal.Target{
		"app":    {Container: "app", Object: "deployment/api"},
		"api":    {Command: []string{"env", "A=b", "C=d", "./bin/api", "-v"}},
		"import": {Command: []string{"sh", "-c", "ulimit -n 4096; exec ./import"}},
		"server": {Build: "./cmd/server", Command: []string{"-addr", ":8080"}},
		"shop":   {Build: ".", Command: []string{"env", "A=b", "-addr", ":8080"}, MainModule: "example.com/shop"},
		"worker": {Attached: &journal.Process{PID: 7, Name: "worker"}},
		"":       {Build: "./"},
	} {
		if got := programName(&verdict.Result{Target: target}); got != want {
			t.Errorf("%+v is %q, want %q", target, got, want)
		}
	}
}

// TestNoExpected: a verdict without a value has nothing to keep.
func TestNoExpected(t *testing.T) {
	h, trials := verdicttest.Generate(verdicttest.Config{Settings: []verdicttest.Truth{verdicttest.Unset(2, 500, 0.02), verdicttest.Set(1, 495, 0.02)}, Blocks: 2})
	if _, err := expectedOf(verdict.Analyze(h, trials), of(trials)); err == nil || !strings.Contains(err.Error(), "names no value") {
		t.Error(err)
	}
	two := append(verdicttest.Quota(1, verdicttest.Set(1, 500, 0.02), verdicttest.Set(2, 400, 0.05)), verdicttest.Quota(2, verdicttest.Set(1, 500, 0.02), verdicttest.Set(2, 900, 0.02))...)
	h, trials = verdicttest.Generate(verdicttest.Config{Settings: two})
	if _, err := expectedOf(verdict.Analyze(h, trials), of(trials)); err == nil || !strings.Contains(err.Error(), "several limits") {
		t.Error(err)
	}
	h, trials = verdicttest.Generate(verdicttest.Config{Settings: []verdicttest.Truth{verdicttest.Unset(2, 400, 0.02), verdicttest.Set(1, 480, 0.02)}, Rate: 300, Blocks: 20, Trial: func(t *journal.Trial) {
		t.Attained = &journal.Attainment{Met: true}
	}})
	h.Plan.SLO = &slo.Objective{Quantile: 0.99, Seconds: 0.05}
	if r := verdict.Analyze(h, trials); r.Value() != nil || r.Cheapest.Answer == nil || r.Cheapest.Answer.Procs != nil || !r.Recommendation.Verdict.Decides() {
		t.Errorf("the cheapest: %+v, value %v, %+v", r.Cheapest, r.Value(), r.Recommendation)
	} else if _, err := expectedOf(r, of(trials)); err == nil || !strings.Contains(err.Error(), "the cheapest") {
		t.Error(err)
	}
	h, trials = verdicttest.Generate(verdicttest.Config{Blocks: 8, Noise: &verdicttest.Noise{Trial: 0.005, P99: 0.01}, Settings: []verdicttest.Truth{verdicttest.Set(1, 1000, 0.01), verdicttest.Set(2, 600, 0.01), verdicttest.Set(8, 600, 0.01)}})
	if r := verdict.Analyze(h, trials); r.Value() == nil || replacesUnknown(r) != nil {
		t.Errorf("the default is all CPUs: %v, %v", r.Value(), replacesUnknown(r))
	}
	likely := verdict.Analyze(h, trials)
	likely.Recommendation.Confidence = verdict.Likely
	if _, err := expectedOf(likely, of(trials)); err == nil || !strings.Contains(err.Error(), "nothing to set yet") {
		t.Errorf("likely: %v", err)
	}
	h.TargetHost.CPUs, h.TargetHost.AffinityCPUs, h.TargetHost.EffectiveCPUs = 16, 16, 16
	if r := verdict.Analyze(h, trials); r.Value() == nil || replacesUnknown(r) == nil {
		t.Errorf("the default is all CPUs, which no trial had, and %v is kept", r.Value())
	}
	h.TargetHost.CPUs, h.TargetHost.AffinityCPUs = 8, 8
	h.TargetHost.EffectiveCPUs = 3
	if r := verdict.Analyze(h, trials); r.Value() == nil || replacesUnknown(r) == nil {
		t.Errorf("under a limit of 3 CPUs the default is unknown, and %v is kept", r.Value())
	}
	several := live.Analyze(pagetest.LiveContents())
	several.Recommendation.Procs, several.Recommendation.Setting = nil, ""
	if _, err := expectedOf(several, nil); err == nil || !strings.Contains(err.Error(), "choose one") {
		t.Error(err)
	}
	harmed := pagetest.LiveContents()
	*harmed.End = journal.End{Code: journal.EndHarm, Harm: &journal.Harm{Code: journal.HarmPanic, Setting: "1"}}
	if _, err := expectedOf(live.Analyze(harmed), nil); err == nil || !strings.Contains(err.Error(), "names no value") {
		t.Error(err)
	}
	if _, err := expectedOf(pagetest.Canary(), nil); err == nil || !strings.Contains(err.Error(), "canary") {
		t.Error(err)
	}
}

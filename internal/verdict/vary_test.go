package verdict_test

import (
	"math"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

// The pair of a sweep of GOMAXPROCS and GOGC is proven, its groups are each with what it
// compared, and the memory of each value is known.
func TestVaried(t *testing.T) {
	h := Varied(journal.Axis{Name: "GOGC", Values: []string{"50", "100", "200", "off"}, Start: "100"})
	h.Plan.MaxMemoryBytes = 500
	collects, heaps := map[string]float64{"50": 0.6, "100": 0.8, "200": 1, "off": 1.2}, map[string]int64{"50": 50, "100": 70, "200": 110, "off": 900}
	trials := Race(h, func(procs int, v map[string]string) (float64, int64) {
		return 100 * math.Min(float64(procs), 2) * collects[v["GOGC"]], heaps[v["GOGC"]]
	}, 1, 200)
	r := verdict.Analyze(h, trials)
	if len(r.Best) != 1 || len(r.Groups) != 2 || len(r.Compared) != 1 || !r.Complete || r.Recommendation != nil {
		t.Fatalf("%d pairs, %d groups, %d of variables, complete: %v", len(r.Best), len(r.Groups), len(r.Compared), r.Complete)
	}
	b, g := r.Best[0], r.Compared[0]
	if b.Procs == nil || *b.Procs != 2 || b.Variables[0] != (journal.Variable{Name: "GOGC", Value: "200"}) || b.Confidence != verdict.Proven || len(b.Apart) != 1 || b.Apart[0] != "GOMAXPROCS" {
		t.Errorf("%+v", b)
	}
	if rec := g.Recommendation; g.Compares != "GOGC" || *g.Procs != 2 || rec.Setting != "GOGC=200" || rec.Verdict != verdict.Recommended || rec.Versus == nil || math.Abs(*rec.Versus.Throughput.Median-1.25) > 0.05 {
		t.Errorf("%+v, %+v", g.Recommendation, rec.Versus)
	}
	for i, want := range []int64{50, 70, 110, 900} {
		a := g.Rows[i]
		if m := a.Evidence.PeakRSSBytes; m == nil || *m != float64(want) {
			t.Errorf("%s: memory %v, want %d", a.Label, m, want)
		}
		if excluded := a.Excluded != nil && *a.Excluded == contest.ExcludedMemory; excluded != (want > 500) {
			t.Errorf("%s is excluded by its memory: %v", a.Label, excluded)
		}
	}
	early := verdict.Analyze(h, trials[:9])
	if early.Complete || early.Best[0].Confidence != "" {
		t.Errorf("after 9 trials it is complete: %v, %q", early.Complete, early.Best[0].Confidence)
	}
}

// What is proven of variables is likely if nothing was counted of other programs, and the pair
// too if no value of GOMAXPROCS can be read.
func TestVariedUnseen(t *testing.T) {
	h := Varied(journal.Axis{Name: "GOGC", Values: []string{"50", "100", "200"}, Start: "100"})
	collects := map[string]float64{"50": 0.6, "100": 0.8, "200": 1}
	run := func(any bool, change func(*journal.Trial)) (of verdict.Group, best verdict.Best) {
		h.Target.AnyProgram = any
		trials := Race(h, func(procs int, v map[string]string) (float64, int64) {
			return 100 * math.Min(float64(procs), 2) * collects[v["GOGC"]], 50
		}, 1, 200)
		for i := range trials {
			change(&trials[i])
		}
		r := verdict.Analyze(h, trials)
		if len(r.Compared) != 1 || len(r.Best) != 1 || !r.Best[0].Complete {
			t.Fatalf("%d of variables, best %+v", len(r.Compared), r.Best)
		}
		return r.Compared[0], r.Best[0]
	}
	of, best := run(false, func(t *journal.Trial) { t.HostUse = nil })
	if rec := of.Recommendation; rec.Setting != "GOGC=200" || rec.Confidence != verdict.Likely || len(rec.Next) != 1 || rec.Next[0].Code != verdict.StepCount || best.Confidence != verdict.Likely {
		t.Errorf("nothing is counted: %+v, best %+v", rec, best)
	}
	of, best = run(true, func(t *journal.Trial) { t.ObservedProcs = []*int{nil} })
	if rec := of.Recommendation; rec.Confidence != verdict.Proven || best.Confidence != verdict.Likely {
		t.Errorf("nothing can be read: %+v, best %+v", rec, best)
	}
}

// A latency that may be the load generator's own proves nothing of a variable.
func TestVariedUnderALoadWhoseLagIsUnknown(t *testing.T) {
	h := Varied(journal.Axis{Name: "GOGC", Values: []string{"50", "100"}, Start: "100"})
	trials := Race(h, func(procs int, v map[string]string) (float64, int64) {
		return 100 * math.Min(float64(procs), 2) * map[string]float64{"50": 0.6, "100": 1}[v["GOGC"]], 50
	}, 1, 200)
	for known, want := range map[bool]verdict.Confidence{true: verdict.Proven, false: verdict.Likely} {
		for i := range trials {
			t := &trials[i]
			p99 := 0.01 * (1 + 0.01*float64(i%3))
			t.LatencySeconds = &journal.Latency{P50: new(p99 / 2), P90: new(0.7 * p99), P99: &p99}
			t.Phases = []journal.Phase{{Mode: journal.ModeOpen, RatePerSecond: new(1000.0), AchievedPerSecond: 1000, DurationSeconds: 20, Requests: 20000, LatencySeconds: t.LatencySeconds}}
			if t.Load = new(journal.LoadCost); known {
				t.Load.SendLagP99Seconds = new(0.0)
			}
		}
		r := verdict.Analyze(h, trials)
		rec := r.Compared[0].Recommendation
		if rec.Confidence != want || !known && rec.Next[0].Code != verdict.StepOwnLoad {
			t.Errorf("known %v: %+v", known, rec)
		}
	}
}

// A value that is as fast as the start may be slower, where the load generator was at its limit.
func TestVariedAtTheLimitOfTheLoad(t *testing.T) {
	h := Varied(journal.Axis{Name: "GOGC", Values: []string{"50", "100"}, Start: "100"})
	trials := Race(h, func(procs int, _ map[string]string) (float64, int64) { return 100 * math.Min(float64(procs), 2), 50 }, 1, 200)
	for busiest, want := range map[float64]verdict.Confidence{0.5: verdict.Proven, 0.99: ""} {
		for i := range trials {
			if trials[i].Setting.Compares != "" {
				trials[i].Load = &journal.LoadCost{ThreadBusiestRatio: &busiest}
			}
		}
		r := verdict.Analyze(h, trials)
		if rec, best := r.Compared[0].Recommendation, r.Best[0]; best.Confidence != want || (rec.Setting == "GOGC=50") != (want != "") || want == "" && rec.Next[0].Code != verdict.StepLoadElsewhere {
			t.Errorf("busiest thread %g: %+v, best %+v", busiest, rec, best)
		}
	}
}

// A verdict that a group leaves open is not sure: all values of GOMAXPROCS exceed the bound.
func TestVariedWithoutAnAnswer(t *testing.T) {
	h := Varied(journal.Axis{Name: "GOGC", Values: []string{"50", "100"}, Start: "100"})
	h.Plan.MaxMemoryBytes = 10
	trials := Race(h, func(procs int, _ map[string]string) (float64, int64) { return float64(procs), 20 }, 1, 200)
	r := verdict.Analyze(h, trials)
	if b := r.Best[0]; b.Confidence != "" || len(trials) > 20 {
		t.Errorf("%+v after %d trials", b, len(trials))
	}
}

// A run with another day's as its baseline is compared in the values of its variables, too.
func TestGateBaselineOfVariables(t *testing.T) {
	run := func(seed uint64, day, small float64) *verdict.Result {
		h := Varied(journal.Axis{Name: "GOGC", Values: []string{"50", "100", "200"}, Start: "100"})
		return verdict.Analyze(h, Race(h, func(procs int, v map[string]string) (float64, int64) {
			throughput := day * 100 * math.Min(float64(procs), 2)
			if v["GOGC"] == "50" {
				throughput *= small
			}
			return throughput, 10
		}, seed, 400))
	}
	base := run(1, 1, 0.9)
	g, err := verdict.GateBaseline(base, run(2, 2, 0.9))
	if err != nil || slices.ContainsFunc(g.Checks, func(c verdict.GateCheck) bool { return c.Worse }) {
		t.Errorf("another day's machine: %+v, %v", g, err)
	}
	g, err = verdict.GateBaseline(base, run(3, 1, 0.5))
	if err != nil || g.Pass {
		t.Fatalf("GOGC=50 lost nearly half: %+v, %v", g, err)
	}
	for _, c := range g.Checks {
		if s := c.Setting; c.Worse != (s.Label == "GOGC=50") || c.Worse && (*s.Procs != 2 || len(s.Variables) > 0) {
			t.Errorf("%+v of %+v", c, s)
		}
	}
}

// The bound is of each part of each trial, and what is shown is what it is held against. A value of
// which no trial has the memory does not pass.
func TestMemoryOfEachPart(t *testing.T) {
	for name, c := range map[string]struct {
		excluded contest.Excluded
		peak     float64 // 0: not known
		trial    func(*journal.Trial)
	}{
		"in the latency phase": {contest.ExcludedMemory, 20, func(t *journal.Trial) {
			t.Phases[1].Usage = &journal.Usage{Memory: &journal.Memory{PeakRSSBytes: 20}}
		}},
		"in one trial": {contest.ExcludedMemory, 20, func(t *journal.Trial) {
			if t.Block == 1 {
				t.Memory.PeakRSSBytes = 20
			}
		}},
		"in an invalid trial": {contest.ExcludedMemory, 20, func(t *journal.Trial) {
			if t.Block == 1 {
				t.Memory.PeakRSSBytes, t.Valid, t.InvalidCode = 20, false, journal.InvalidCrashed
			}
		}},
		"near it in one trial": {"", 14, func(t *journal.Trial) {
			if t.Block == 1 {
				t.Memory.PeakRSSBytes = 14
			}
		}},
		"not read": {contest.ExcludedUnweighed, 0, func(t *journal.Trial) { t.Memory = nil }},
		"sometimes read": {"", 10, func(t *journal.Trial) {
			if t.Block > 0 {
				t.Memory = nil
			}
		}},
	} {
		h, trials := Generate(Config{Noise: quiet, Settings: []Truth{Unset(4, 1000, .010), Set(1, 1000, .010), Set(4, 1000, .010)}, Trial: func(t *journal.Trial) {
			t.Memory = &journal.Memory{PeakRSSBytes: 10}
			if t.Setting.Label == "1" {
				c.trial(t)
			}
		}})
		h.Plan.MaxMemoryBytes = 15
		g := verdict.Analyze(h, trials).Groups[0]
		one := g.Settings[1]
		if got := one.Excluded; (got == nil) != (c.excluded == "") || got != nil && *got != c.excluded {
			t.Errorf("%s: excluded %v, want %q", name, got, c.excluded)
		}
		if peak := one.Evidence.PeakRSSBytes; (peak == nil) != (c.peak == 0) || peak != nil && *peak != c.peak {
			t.Errorf("%s: peak memory %v, want %g", name, peak, c.peak)
		}
		if rec := g.Recommendation; c.excluded == contest.ExcludedUnweighed && (rec.Claim.Code() != "no_memory" || rec.Next[0].Code != verdict.StepWeigh) {
			t.Errorf("%s: %+v", name, rec)
		}
	}
}

// Without --vary, too, the reason is the memory if it leaves one value, or none.
func TestTooMuchMemory(t *testing.T) {
	for most, of := range map[int64]int{5: 0, 15: 1} {
		h, trials := Generate(Config{Noise: quiet, Settings: []Truth{Unset(4, 1000, .010), Set(1, 300, .010), Set(4, 1000, .010)}, Trial: func(t *journal.Trial) {
			t.Memory = &journal.Memory{PeakRSSBytes: 20}
			if t.Setting.Label == "1" {
				t.Memory.PeakRSSBytes = 10
			}
		}})
		h.Plan.MaxMemoryBytes = most
		rec := verdict.Analyze(h, trials).Groups[0].Recommendation
		if rec.Verdict != verdict.Undecided || rec.Claim.Code() != "memory" || rec.Of().Procs != of || rec.Next[0].Code != verdict.StepMoreMemory {
			t.Errorf("at most %d: %+v", most, rec)
		}
	}
}

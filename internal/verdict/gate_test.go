package verdict_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

func versus(throughput, p99 float64, noise *Noise) Config {
	settings := []Truth{Unset(4, 1000*throughput, .010*p99), Set(1, 300*throughput, .020*p99), Set(4, 1000*throughput, .010*p99)}
	return Config{Gate: true, Noise: noise, Rate: 200, Settings: append(settings, Against(Unset(4, 1000, .010), Set(1, 300, .020), Set(4, 1000, .010))...)}
}

func TestGateAgainst(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		pass   bool
		want   verdict.Outcome // of some check
	}{
		{"the same", versus(1, 1, quiet), true, verdict.OutcomeWithin},
		{"better", versus(1.5, 0.5, quiet), true, verdict.OutcomeBetter},
		{"worse by less than the margin", versus(0.98, 1.05, quiet), true, verdict.OutcomeWithin},
		{"throughput worse", versus(0.85, 1, quiet), false, verdict.OutcomeWorse},
		{"p99 worse", versus(1, 1.5, quiet), false, verdict.OutcomeWorse},
		{"slightly worse in noise", versus(0.93, 1, &Noise{Trial: 0.05, P99: 0.2}), false, verdict.OutcomeUndecided},
		{"a third as fast in noise, too slow for the rate", versus(0.3, 1, &Noise{Trial: 0.1, P99: 0.4}), false, verdict.OutcomeWorse},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := analyze(c.config)
			if r.Gate == nil || r.Gate.Kind != verdict.GateKindAgainst || len(r.Gate.Checks) != 6 {
				t.Fatalf("gate %+v", r.Gate)
			}
			said := false
			for _, check := range r.Gate.Checks {
				said = said || check.Outcome == c.want
				if check.Worse && check.Proven {
					t.Errorf("both worse and not: %+v", check)
				}
			}
			for _, check := range r.Gate.Checks {
				if !check.Judged {
					t.Errorf("six blocks do not judge %+v", check)
				}
			}
			if r.Gate.Pass != c.pass || !said || (r.Gate.Unjudged != nil) != (c.want == verdict.OutcomeUndecided) {
				t.Errorf("pass %v, want %v with %q: %+v", r.Gate.Pass, c.pass, c.want, r.Gate.Checks)
			}
		})
	}
}

// Of a program that cannot carry the rate the latency is the length of its queue: the check
// names that program.
func TestGateNamesWhatFellBehind(t *testing.T) {
	for want, full := range map[string]func(*journal.Trial) bool{
		verdict.BehindOld: func(t *journal.Trial) bool { return t.Setting.Variant == journal.VariantAgainst },
		verdict.BehindNew: func(t *journal.Trial) bool { return t.Setting.Variant == "" },
		"":                func(*journal.Trial) bool { return true },
	} {
		c := versus(1, 1, quiet)
		c.Trial = func(t *journal.Trial) { t.Saturated = full(t) }
		for _, check := range analyze(c).Gate.Checks {
			if check.Metric == verdict.MetricP99 && (check.Behind != want || check.RatePerSecond == nil || *check.RatePerSecond != 200) {
				t.Errorf("%q fell behind, want %q", check.Behind, want)
			}
		}
	}
}

// What nobody could judge does not pass; what is proven worse fails all the same.
func TestGateThatCannotBeJudged(t *testing.T) {
	invalid := func(which func(*journal.Trial) bool) func(*journal.Trial) {
		return func(t *journal.Trial) {
			if which(t) {
				t.Valid, t.InvalidReason = false, "exited with code 4"
			}
		}
	}
	isNew := func(t *journal.Trial) bool { return t.Setting.Variant == "" }
	late := func(t *journal.Trial) { t.Load.SendLagP99Seconds = nil }
	few := versus(1, 1, quiet)
	few.OpenSeconds = 0.1
	for _, c := range []struct {
		name     string
		blocks   int
		config   Config
		spoil    func(*journal.Trial)
		worse    bool
		unjudged []verdict.Unjudged // of the first, what is known
	}{
		{"two blocks", 2, versus(1, 1, quiet), nil, false, []verdict.Unjudged{{Code: verdict.UnjudgedTooFew, Pairs: 2}}},
		{"two blocks, far worse", 2, versus(.1, 9, quiet), nil, false, []verdict.Unjudged{{Code: verdict.UnjudgedTooFew, Pairs: 2}}},
		{"the new one always fails", 6, versus(1, 1, quiet), invalid(isNew), false, []verdict.Unjudged{{Code: verdict.UnjudgedSpoiled, Bad: 6, Of: 6, OldOf: 6, Reason: "exited with code 4"}}},
		{"all fail", 6, versus(1, 1, quiet), invalid(func(*journal.Trial) bool { return true }), false, []verdict.Unjudged{{Code: verdict.UnjudgedTooFew}}},
		{"the new one fails once", 6, versus(1, 1, quiet), invalid(func(t *journal.Trial) bool {
			return isNew(t) && t.Setting.Label == "4" && t.Block == 0 && t.Role == journal.RoleMeasure
		}), false, []verdict.Unjudged{{Code: verdict.UnjudgedSpoiled, Bad: 1, Of: 6, OldOf: 6, Reason: "exited with code 4"}}},
		{"both fail now and then", 8, versus(1, 1, quiet), invalid(func(t *journal.Trial) bool { return t.Block == 0 || isNew(t) && t.Block == 1 }), false, nil},
		{"clearly more often", 12, versus(1, 1, quiet), invalid(func(t *journal.Trial) bool { return t.Block == 0 || isNew(t) && t.Block < 7 }), false, []verdict.Unjudged{{Code: verdict.UnjudgedSpoiled, Bad: 7, Of: 12, OldBad: 1, OldOf: 12, Reason: "exited with code 4"}}},
		{"one setting worse, another not judged", 6, versus(.7, 1, quiet), invalid(func(t *journal.Trial) bool { return t.Setting.Procs != nil && *t.Setting.Procs == 4 }), true, nil},
		{"undecided", 6, versus(1, 1, &Noise{Trial: 0.1, P99: 0.2}), nil, false, []verdict.Unjudged{{Code: verdict.UnjudgedUndecided, Pairs: 6}}},
		{"fast every second time", 6, versus(1.4, 1, quiet), func(t *journal.Trial) {
			if t.Role == journal.RoleAA {
				*t.ThroughputPerSecond *= 0.6
			}
		}, false, []verdict.Unjudged{{Code: verdict.UnjudgedItself, Pairs: 6}}},
		{"how late the load was is not known", 6, versus(1, 1, quiet), late, false, []verdict.Unjudged{{Code: verdict.UnjudgedLag, Pairs: 6}}},
		{"p99 worse, under such a load", 6, versus(1, 1.5, quiet), late, true, nil},
		{"as fast as the load generator", 6, versus(1, 1, quiet), func(t *journal.Trial) { t.Load.ThreadBusiestRatio = new(0.95) }, false, []verdict.Unjudged{{Code: verdict.UnjudgedLimited, Pairs: 6}}},
		{"the old one as fast as it", 6, versus(1, 1, quiet), func(t *journal.Trial) {
			if !isNew(t) {
				t.Load.ThreadBusiestRatio = new(0.95)
			}
		}, false, []verdict.Unjudged{{Code: verdict.UnjudgedLimited, Pairs: 6}}},
		{"the new one as fast as it", 6, versus(1, 1, quiet), func(t *journal.Trial) {
			if isNew(t) {
				t.Load.ThreadBusiestRatio = new(0.95)
			}
		}, false, nil},
		{"worse than the load generator", 6, versus(.7, 1, quiet), func(t *journal.Trial) {
			if !isNew(t) {
				t.Load.ThreadBusiestRatio = new(0.95)
			}
		}, true, nil},
		{"the new one redirects", 6, versus(1, 1, quiet), func(t *journal.Trial) {
			for i := range t.Phases {
				if p := &t.Phases[i]; isNew(t) {
					p.Redirects = p.Requests
				}
			}
		}, false, []verdict.Unjudged{{Code: verdict.UnjudgedRedirects, Reason: verdict.BehindNew}}},
		{"too few requests for any percentile", 6, few, nil, false, []verdict.Unjudged{{Code: verdict.UnjudgedNoQuantile}}},
		{"no setting of the old one", 6, Config{Gate: true, Noise: quiet, Settings: CPUServer()}, nil, false, []verdict.Unjudged{{Code: verdict.UnjudgedNoSetting}}},
	} {
		c.config.Blocks, c.config.Trial = c.blocks, c.spoil
		g := analyze(c.config).Gate
		worse := false
		if lengthens := slices.ContainsFunc(g.Unjudged, func(u verdict.Unjudged) bool { return u.Code == verdict.UnjudgedNoQuantile }); lengthens && !strings.HasPrefix(c.name, "too few requests") {
			t.Errorf("%s: longer trials would not help: %+v", c.name, g.Unjudged)
		}
		for _, check := range g.Checks {
			worse = worse || check.Worse
			if !check.Judged && (check.Worse || check.Proven || check.Outcome != verdict.OutcomeNotJudged) {
				t.Errorf("%s: %+v", c.name, check)
			}
		}
		passes := c.unjudged == nil && !c.worse
		if g.Pass != passes || worse != c.worse || (g.Unjudged == nil) != (c.unjudged == nil) {
			t.Errorf("%s: pass %v, worse %v, unjudged %+v; want %v, %v, %+v", c.name, g.Pass, worse, g.Unjudged, passes, c.worse, c.unjudged)
			continue
		}
		for i, want := range c.unjudged {
			got := g.Unjudged[i]
			got.Setting, got.Checks = journal.Setting{}, nil
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, want %+v", c.name, got, want)
			}
		}
	}
}

// A benchmark that is proven slower fails a gate, whatever the mean of all is.
func TestGateOfBenchmarks(t *testing.T) {
	for slower, pass := range map[float64]bool{1: true, 1.5: false} {
		g := analyze(Config{Gate: true, Mode: journal.ModeBatch, Noise: quiet, Settings: append([]Truth{Unset(4, 1000, .01)}, Against(Unset(4, 1000, .01))...), Trial: func(t *journal.Trial) {
			t.ThroughputUnit, t.Metrics = "operations", map[string]journal.Metric{}
			for i, name := range []string{"A", "B"} {
				ns := 1e9 / *t.ThroughputPerSecond * (1 + 0.001*float64((t.Block+t.Order)%3))
				if t.Setting.Variant == "" {
					ns *= []float64{slower, 1 / slower}[i]
				}
				t.Metrics[name+" ns/op"] = journal.Metric{Value: ns, Unit: "ns/op", Better: "lower"}
			}
		}}).Gate
		if g.Pass != pass || pass != (len(g.Checks) == 1) || !pass && (g.Checks[1].Metric != "A" || !g.Checks[1].Worse || g.Unjudged != nil) {
			t.Errorf("%g× as slow: %+v", slower, g)
		}
	}
}

// Both programs are shown with the latency that is judged.
func TestJudgedLatencyOfBothPrograms(t *testing.T) {
	settings := append([]Truth{Unset(4, 1000, .010)}, Against(Unset(4, 1000, .010))...)
	r := analyze(Config{Gate: true, Noise: quiet, Rate: 200, OpenSeconds: 2, Settings: settings}) // 400 requests
	if q := r.Groups[0].Latency.Quantile; !(q > 0 && q < 0.99) {
		t.Fatalf("quantile %g", q)
	}
	shown := slices.DeleteFunc(slices.Clone(r.Groups[0].Settings), func(a verdict.Row) bool { return a.Variant == "" })
	for _, a := range append(shown, r.Groups[0].Rows...) {
		if a.Judged.Median == nil {
			t.Errorf("%s %s has no level", a.Variant, a.Label)
		}
	}
}

// Three pairs may agree by chance: the new program's own copies show by how much trials scatter. The
// numbers are those of a run of caddy against itself.
func TestPairsThatAgreeByChance(t *testing.T) {
	for own, want := range map[bool]verdict.Outcome{true: verdict.OutcomeUndecided, false: verdict.OutcomeWorse} {
		c := Config{Gate: true, Mode: journal.ModeBatch, Blocks: 3, Noise: quiet, Settings: append([]Truth{Unset(2, 1000, 0)}, Against(Unset(2, 1000, 0))...)}
		c.Trial = func(t *journal.Trial) {
			is := map[journal.Role][]float64{journal.RoleMeasure: {12103, 12120, 10773}, journal.RoleAA: {11190, 10280, 15084}}[t.Role]
			if t.Setting.Variant != "" {
				is = []float64{13574, 13374, 12080}
			}
			*t.ThroughputPerSecond, t.Valid = is[t.Block], own || t.Role != journal.RoleAA
			time := journal.Metric{Value: 1e9 / is[t.Block], Unit: "ns/op", Better: "lower"} // of Go benchmarks the same
			t.ThroughputUnit, t.Metrics = "operations", map[string]journal.Metric{"A ns/op": time, "B ns/op": time}
		}
		if g := analyze(c).Gate; g.Checks[0].Outcome != want || own != (len(g.Checks) == 1) {
			t.Errorf("with copies %v: %+v", own, g.Checks)
		}
	}
}

func TestOldCommandHasNoPartInTheVerdict(t *testing.T) {
	settings := append(CPUServer(), Against(Set(1, 1e6, 1e-6))...)
	r := analyze(Config{Gate: true, Noise: quiet, Settings: settings})
	g := r.Groups[0]
	if g.Recommendation.Verdict != verdict.KeepDefault || g.Peak != "8" {
		t.Errorf("peak %s, %+v", g.Peak, g.Recommendation)
	}
	if last := g.Settings[len(g.Settings)-1]; last.Variant != "against" || last.Speedup != nil || last.VersusPeak.Median != nil {
		t.Errorf("the old command's setting: %+v", last)
	}
}

func TestGateBaseline(t *testing.T) {
	run := func(c Config) *verdict.Result {
		c.Noise = quiet
		return analyze(c)
	}
	settings := func(one float64) []Truth {
		return []Truth{Unset(4, 1000, .010), Set(1, 300*one, .020), Set(4, 1000, .010)}
	}
	base := run(Config{Settings: settings(1), Rate: 100})

	faster := settings(1) // another day: all twice as fast
	for i := range faster {
		faster[i].Throughput *= 2
	}
	if g, err := verdict.GateBaseline(base, run(Config{Seed: 2, Settings: faster, Rate: 100})); err != nil || !g.Pass || len(g.Checks) != 4 {
		t.Errorf("another day's machine: %+v, %v", g, err)
	}
	if g, err := verdict.GateBaseline(base, run(Config{Seed: 3, Settings: settings(0.7), Rate: 100})); err != nil || g.Pass {
		t.Errorf("one P lost 30%%: %+v, %v", g, err)
	} else if c := g.Checks[0]; c.Setting.Label != "1" || c.Setting.Key().Procs != 1 || c.Metric != verdict.MetricThroughput || !c.Worse || *c.Ratio.Median > 0.72 || *c.Ratio.Median < 0.68 {
		t.Errorf("first check: %+v", c)
	}

	crashed := func(t *journal.Trial) {
		if t.Setting.Procs == nil {
			t.Valid, t.InvalidCode, t.InvalidReason = false, journal.InvalidCrashed, "it crashed"
		}
	}
	now := run(Config{Settings: settings(1), Rate: 100, Trial: crashed})
	if g, err := verdict.GateBaseline(base, now); err != nil || g.Pass || len(g.Checks) > 0 || len(g.Unjudged) != 1 || g.Unjudged[0].Code != verdict.UnjudgedSpoiled || g.Unjudged[0].Setting.Label != journal.Default {
		t.Errorf("the default crashes: %+v, %v", g, err)
	}
	if _, err := verdict.GateBaseline(now, base); err == nil || !strings.HasSuffix(err.Error(), "its trials were invalid (it crashed)") {
		t.Errorf("the default of the baseline crashes: %v", err)
	}

	// The p99 may have doubled, and nobody could judge it.
	if g, err := verdict.GateBaseline(base, run(Config{Seed: 2, Settings: settings(1), Rate: 100, OpenSeconds: 10})); err != nil || g.Pass || len(g.Checks) != 4 || len(g.Unjudged) != 1 || g.Unjudged[0].Code != verdict.UnjudgedNoQuantile {
		t.Errorf("another percentile is judged: %+v, %v", g, err)
	}

	for name, c := range map[string]struct {
		config Config
		pass   bool
	}{
		"too few requests in both": {Config{Settings: settings(1), Rate: 100, OpenSeconds: 0.1}, false},
		"no latency was asked for": {Config{Settings: settings(1), Mode: journal.ModeBatch}, true},
	} {
		now := c.config
		now.Seed = 2
		g, err := verdict.GateBaseline(run(c.config), run(now))
		if err != nil || g.Pass != c.pass || !c.pass && (len(g.Unjudged) != 1 || g.Unjudged[0].Code != verdict.UnjudgedNoQuantile || len(g.Unjudged[0].Checks) != 2) {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}

	// A value that could not carry the rate has a latency as long as its trials.
	queued := func(seconds float64, label string) *verdict.Result {
		return run(Config{Settings: settings(1), Rate: 100, Trial: func(t *journal.Trial) {
			if t.Setting.Label == label {
				t.Saturated, *t.LatencySeconds.P99 = true, seconds
			}
		}})
	}
	for name, c := range map[string]struct {
		then, now *verdict.Result
		checks    int
		pass      bool
		behind    string // the p99 of 1
	}{
		"1 in both":              {queued(3, "1"), queued(6, "1"), 3, true, ""},
		"1 in the new run":       {base, queued(6, "1"), 4, false, verdict.BehindNew},
		"1 in the old run":       {queued(3, "1"), base, 4, true, verdict.BehindOld},
		"default in both":        {queued(3, journal.Default), queued(6, journal.Default), 2, true, ""},
		"default in the old run": {queued(3, journal.Default), base, 4, false, ""},
		"default in the new run": {base, queued(3, journal.Default), 4, false, ""},
	} {
		g, err := verdict.GateBaseline(c.then, c.now)
		if err != nil || g.Pass != c.pass || len(g.Checks) != c.checks {
			t.Errorf("saturated: %s: %+v, %v", name, g, err)
			continue
		}
		for _, check := range g.Checks {
			if one := check.Setting.Label == "1" && check.Metric == verdict.MetricP99; check.Worse != (one && c.behind == verdict.BehindNew) || one && check.Behind != c.behind {
				t.Errorf("saturated: %s: %+v", name, check)
			}
		}
	}

	other := *base
	other.Plan.SLO = &slo.Objective{Quantile: 0.99, Seconds: 0.05}
	if _, err := verdict.GateBaseline(base, &other); err == nil || !strings.Contains(err.Error(), "another latency objective") {
		t.Errorf("a run for a latency objective is compared with one without: %v", err)
	}

	// A setting whose trials are all invalid now was skipped once, and so passed.
	fails := func(t *journal.Trial) {
		if t.Setting.Label == "1" {
			t.Valid, t.InvalidReason = false, "crashed"
		}
	}
	if g, err := verdict.GateBaseline(base, run(Config{Settings: settings(1), Rate: 100, Trial: fails})); err != nil || g.Pass || g.Unjudged[0].Code != verdict.UnjudgedSpoiled || g.Unjudged[0].Setting.Label != "1" {
		t.Errorf("one setting invalid: %+v, %v", g, err)
	}
	for _, code := range []journal.InvalidCode{journal.InvalidSlow, journal.InvalidCrowded, journal.InvalidStolen} {
		aside := func(t *journal.Trial) {
			if t.Setting.Label == "1" && t.Block == 0 {
				t.Valid, t.InvalidCode = false, code
			}
		}
		if g, err := verdict.GateBaseline(base, run(Config{Settings: settings(1), Rate: 100, Trial: aside})); err != nil || !g.Pass {
			t.Errorf("one trial is set aside as %s: %+v, %v", code, g, err)
		}
	}
	// What missed the objective is a rate that was tried, and no capacity, in both runs.
	for label, checks := range map[string]int{"1": 1, journal.Default: 2} {
		missed := Config{Settings: settings(1), Mode: journal.ModeBatch, Trial: func(t *journal.Trial) {
			t.Attained = &journal.Attainment{Met: t.Setting.Label != label}
		}}
		g, err := verdict.GateBaseline(run(missed), run(missed))
		if err != nil || g.Pass || len(g.Unjudged) != 1 || g.Unjudged[0].Code != verdict.UnjudgedMissed || len(g.Unjudged[0].Checks) != checks {
			t.Errorf("%s missed the objective: %+v, %v", label, g, err)
		}
	}
	// In some trials: a loss that such rates prove is one, and good days alone prove nothing. The
	// rate that is left where none met the objective is far below the others.
	in := func(blocks int, low, factor float64) *verdict.Result {
		return run(Config{Settings: settings(factor), Mode: journal.ModeBatch, Blocks: 8, Trial: func(t *journal.Trial) {
			if t.Setting.Label == "1" && t.Block < blocks {
				*t.ThroughputPerSecond *= low
				t.Attained = new(journal.Attainment)
			}
		}})
	}
	for name, c := range map[string]struct {
		then, now *verdict.Result
		worse     bool
	}{
		"in all trials, far below":                   {in(0, 1, 1), in(8, 0.1, 1), true},
		"in all trials, not below":                   {in(0, 1, 1), in(8, 1, 1), false},
		"in half of them":                            {in(0, 1, 1), in(4, 1, 1), false},
		"in half of them, all far less":              {in(0, 1, 1), in(4, 1, 0.5), true},
		"in a quarter of them":                       {in(0, 1, 1), in(2, 0.02, 1), false},
		"once":                                       {in(0, 1, 1), in(1, 1, 1), false},
		"in half of them in both runs":               {in(4, 0.02, 1), in(4, 0.02, 1), false},
		"in the old run alone, and the rest is less": {in(4, 0.02, 1), in(0, 1, 0.5), false},
	} {
		g, err := verdict.GateBaseline(c.then, c.now)
		if err != nil || g.Pass || g.Checks[0].Worse != c.worse || !c.worse && (len(g.Unjudged) != 1 || g.Unjudged[0].Code != verdict.UnjudgedMissed) {
			t.Errorf("missed %s: %+v, %v", name, g, err)
		}
	}
	if g, err := verdict.GateBaseline(run(Config{Settings: settings(1), Blocks: 2}), run(Config{Settings: settings(1), Blocks: 2})); err != nil || g.Pass || g.Unjudged[0].Pairs != 2 {
		t.Errorf("two blocks: %+v, %v", g, err)
	}

	for name, c := range map[string]struct {
		current func() *verdict.Result
		reason  string
	}{
		"another CPU":      {func() *verdict.Result { r := run(Config{Settings: settings(1)}); r.Host.CPUModel = "Other"; return r }, "CPU model"},
		"another affinity": {func() *verdict.Result { r := run(Config{Settings: settings(1)}); r.Host.AffinityCPUs = 2; return r }, "CPUs that procfit may run on \"8\", now \"2\""},
		"another limit":    {func() *verdict.Result { r := run(Config{Settings: settings(1)}); r.Host.EffectiveCPUs = 1.5; return r }, "CPUs that procfit may use \"8\", now \"1.5\""},
		"another kernel":   {func() *verdict.Result { r := run(Config{Settings: settings(1)}); r.Host.Kernel = "7.0"; return r }, "kernel"},
		"another kind":     {func() *verdict.Result { return run(Config{Settings: settings(1), Mode: journal.ModeBatch}) }, "it measured a server target, but this is a batch target"},
		"more CPUs":        {func() *verdict.Result { return run(Config{Settings: settings(1), CPUs: 16}) }, "CPUs \"8\", now \"16\""},
		"no unset":         {func() *verdict.Result { return run(Config{Settings: settings(1)[1:]}) }, "no valid trial of the default"},
		"unset disturbed": {func() *verdict.Result {
			return run(Config{Settings: settings(1), Trial: func(t *journal.Trial) {
				if t.Valid = t.Setting.Procs != nil; !t.Valid {
					t.InvalidCode, t.InvalidReason = journal.InvalidStolen, "a hypervisor took the CPUs"
				}
			}})
		}, "its trials were invalid (a hypervisor took the CPUs)"},
		"other settings": {func() *verdict.Result { return run(Config{Settings: []Truth{Unset(4, 1, 1), Set(7, 1, 1)}}) }, "no value was measured in both runs"},
		"other group":    {func() *verdict.Result { return run(Config{Settings: Quota(1, settings(1)...)}) }, "no group"},
	} {
		_, err := verdict.GateBaseline(base, c.current())
		var refused *verdict.RefusedError
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, c.reason) {
			t.Errorf("%s: %v, want a refusal that names %q", name, err, c.reason)
		}
	}
}

// A race measures a value that cannot be the answer once, and its default as unset and by its number in
// turns: the values that it measured often are compared, each with all trials of the default.
func TestGateBaselineOfARace(t *testing.T) {
	settings := []Truth{Unset(4, 1000, .010), Set(1, 300, .020), Set(2, 900, .012), Set(4, 1000, .010)}
	raced := func(blocks int) *verdict.Result {
		h, trials := Generate(Config{Settings: settings, Rate: 100, Noise: quiet, NoAA: true})
		h.Plan.Strategy, h.Plan.Goal, h.Plan.MaxTrials = journal.StrategyRace, journal.GoalProven, 80
		return verdict.Analyze(h, slices.DeleteFunc(trials, func(t journal.Trial) bool {
			switch t.Setting.Label {
			case "1":
				return t.Block > 0
			case "2":
				return t.Block >= blocks
			case "4":
				return t.Block%2 == 0
			}
			return t.Block%2 == 1
		}))
	}
	grid := analyze(Config{Settings: settings, Rate: 100, Noise: quiet, Seed: 2})
	g, err := verdict.GateBaseline(raced(6), grid)
	if err != nil || !g.Pass || len(g.Checks) != 2 || g.Checks[0].Setting.Label != "2" || g.Checks[0].Ratio.N != 6 {
		t.Errorf("%+v, %v", g, err)
	}
	if g, err := verdict.GateBaseline(raced(2), grid); err == nil || !strings.Contains(err.Error(), "again with --repeats 6") {
		t.Errorf("no value was measured often: %+v, %v", g, err)
	}
}

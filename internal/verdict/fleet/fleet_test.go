package fleet_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/fleet"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

// sweep is a journal of blocks with hardly any noise.
func sweep(seed uint64, blocks int, change func(*journal.Trial), settings ...Truth) (journal.Header, []journal.Trial) {
	return Generate(Config{Seed: seed, Noise: &Noise{Trial: 0.005, P99: 0.01}, Blocks: blocks, Trial: change, Settings: settings})
}

// swept is the result of a sweep in which 1 and 4 have these throughputs; the default is 4.
func swept(seed uint64, one, four float64) *verdict.Result {
	return verdict.Analyze(sweep(seed, 8, nil, Unset(4, four, .010), Set(1, one, .010), Set(4, four, .010)))
}

// spoiled is a sweep of 1 and 4, as swept, in which each trial was changed.
func spoiled(blocks int, change func(*journal.Trial)) *verdict.Result {
	return verdict.Analyze(sweep(2, blocks, change, Unset(4, 600, .010), Set(1, 1000, .010), Set(4, 600, .010)))
}

// limited is the result of a sweep of 1, 2 and 4 under a limit of 3 CPUs, without the default, which
// is unknown then.
func limited() *verdict.Result {
	h, trials := sweep(1, 8, nil, Set(1, 1000, .010), Set(2, 600, .010), Set(4, 600, .010))
	h.TargetHost.EffectiveCPUs = 3
	return verdict.Analyze(h, trials)
}

// flat is the result of a sweep in which 2, 3 and 6 are equally fast, and 6 has a longer p99. With
// the setting late the load was late.
func flat(late string) *verdict.Result {
	return verdict.Analyze(sweep(1, 8, func(t *journal.Trial) {
		if t.Setting.Label == late {
			t.Load.SendLagP99Seconds = new(0.5)
		}
	}, Unset(8, 600, .010), Set(2, 1000, .010), Set(3, 1000, .010), Set(6, 1000, .020)))
}

func TestCompare(t *testing.T) {
	base := swept(1, 1000, 600)
	for name, tc := range map[string]struct {
		now         *verdict.Result
		unlike      error
		moved       bool
		worse       int
		failing     string
		notCompared string
	}{
		"the same":          {now: swept(2, 1000, 600)},
		"all twice as fast": {now: swept(3, 2000, 1200)},
		"the value moved":   {now: swept(4, 300, 600), moved: true, worse: 1},
		"one is slower":     {now: swept(5, 800, 600), worse: 1},
		"a load elsewhere":  {now: swept(6, 300, 600), unlike: errors.New("the load ran elsewhere"), notCompared: "the load ran elsewhere"},
		"another load":      {now: func() *verdict.Result { r := swept(8, 300, 600); r.Load.Connections++; return r }(), notCompared: "it was measured under another load"},
		"longer trials":     {now: func() *verdict.Result { r := swept(2, 1000, 600); r.Load.DurationSeconds *= 2; return r }()},
		"another objective": {now: func() *verdict.Result {
			r := swept(8, 300, 600)
			r.Plan.SLO = new(slo.Objective)
			return r
		}(), notCompared: "it was measured for another latency objective"},
		"another percentile": {now: func() *verdict.Result {
			r := swept(5, 800, 600)
			r.Groups[0].Latency.Quantile = 0.9
			return r
		}(), worse: 1, notCompared: "latency, because no percentile"},
		"another limit": {now: func() *verdict.Result { r := swept(9, 300, 600); r.Groups[0].QuotaCPUs = new(2.0); return r }(), notCompared: "no group of settings has the same CPU limit"},
		"4 fails": {now: spoiled(8, func(t *journal.Trial) {
			if t.Setting.Label == "4" {
				t.Valid, t.InvalidReason = false, "crashed"
			}
		}), failing: "4", notCompared: "with 4, 8 of 8 trials failed, the last time 0 of 8: crashed"},
		"the default fails": {now: spoiled(8, func(t *journal.Trial) {
			if t.Setting.Procs == nil {
				t.Valid, t.InvalidReason = false, "crashed"
			}
		}), failing: journal.Default, notCompared: "with default, 8 of 8 trials failed, the last time 0 of 8: crashed"},
		"only one default carries the rate": {now: spoiled(8, func(t *journal.Trial) {
			t.Saturated = t.Saturated || t.Setting.Label == journal.Default
		}), notCompared: "latency, because no value has three pairs"},
		"how late the load was is not known": {now: spoiled(8, func(t *journal.Trial) { t.Load.SendLagP99Seconds = nil }), notCompared: "latency, because the load generator does not report"},
		"too few blocks":                     {now: spoiled(2, nil), notCompared: "no value has three pairs of valid trials"},
		"another machine":                    {now: func() *verdict.Result { r := swept(7, 800, 600); r.Host.Kernel = "other"; return r }(), notCompared: "it comes from another host: kernel"},
	} {
		s := fleet.Compare(base, tc.now, tc.unlike)
		if s.Moved != tc.moved || len(s.Worse) != tc.worse || strings.Join(s.Failing, " ") != tc.failing || !strings.HasPrefix(s.NotCompared, tc.notCompared) || (s.NotCompared == "") != (tc.notCompared == "") || s.Procs == nil || *s.Procs != 1 {
			t.Errorf("%s: %+v", name, s)
		}
		for _, l := range s.Worse {
			if l.Setting != "1" || l.Metric != verdict.MetricThroughput || l.Ratio >= 1-l.Margin || l.Bound == nil || *l.Bound >= 1-l.Margin || l.N < 3 {
				t.Errorf("%s: %+v", name, l)
			}
		}
	}
}

func TestDiffers(t *testing.T) {
	has := func(n int) *fleet.Manifest { return &fleet.Manifest{Procs: &n} }
	for name, tc := range map[string]struct {
		result             *verdict.Result
		manifest           *fleet.Manifest
		since              *fleet.Since
		differs, isChanged bool
	}{
		"another value":               {swept(1, 1000, 600), has(4), nil, true, true},
		"no value that is known":      {swept(1, 1000, 600), &fleet.Manifest{}, nil, true, true},
		"the same value":              {swept(1, 1000, 600), has(1), nil, false, false},
		"a value that is as good":     {flat(""), has(3), nil, false, false},
		"a latency is not known":      {flat("3"), has(3), nil, true, true},
		"a value with a worse p99":    {flat(""), has(6), nil, true, true},
		"no manifest":                 {swept(1, 1000, 600), nil, nil, false, false},
		"the default is best":         {swept(1, 300, 600), has(1), nil, true, true},
		"it has the default":          {swept(1, 300, 600), has(4), nil, false, false},
		"it has no value":             {swept(1, 300, 600), &fleet.Manifest{}, nil, false, false},
		"it was not measured":         {swept(1, 300, 600), has(2), nil, false, false},
		"nor was the default":         {limited(), has(3), nil, false, false},
		"it was, and not the default": {limited(), has(4), nil, true, true},
		"it has become worse":         {swept(1, 1000, 600), has(1), &fleet.Since{Worse: make([]fleet.Loss, 1)}, false, true},
		"its trials fail":             {swept(1, 1000, 600), has(1), &fleet.Since{Failing: []string{"4"}}, false, true},
		"its value is another one":    {swept(1, 1000, 600), has(1), &fleet.Since{Moved: true}, false, true},
	} {
		s := fleet.Service{Manifest: tc.manifest, Since: tc.since}
		s.Take(tc.result)
		if s.Procs == nil || s.Differs() != tc.differs || s.Changed() != tc.isChanged {
			t.Errorf("%s: differs %v, changed %v: %+v", name, s.Differs(), s.Changed(), s)
		}
		o := fleet.Outcome{Services: []fleet.Service{s, {}}}
		if n := o.Count((*fleet.Service).Changed); (n == 1) != tc.isChanged {
			t.Errorf("%s: %d have changed", name, n)
		}
	}
	likely := fleet.Service{Manifest: has(4)}
	r := swept(1, 1000, 600)
	r.Recommendation.Confidence = verdict.Likely
	if likely.Take(r); likely.Differs() {
		t.Error("a likely value is to be written")
	}
	if none := (fleet.Service{Failed: "crashed", Manifest: has(4)}); none.Differs() || none.Changed() {
		t.Error("a service that was not measured is to change")
	}
}

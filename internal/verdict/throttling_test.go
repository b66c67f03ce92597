package verdict_test

import (
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

// around puts a limit around the target that throttled some of 102 periods.
func around(cpus float64, throttled int64) func(*journal.Trial) {
	return func(t *journal.Trial) {
		t.OuterLimits = []journal.OuterLimit{
			{Group: "/wide", CPUs: 8, Cgroup: journal.Cgroup{Periods: 102}},
			{Group: "/session", CPUs: cpus, Cgroup: journal.Cgroup{Periods: 102, ThrottledPeriods: throttled}},
		}
	}
}

func throttledBy(share float64, settings ...Truth) []Truth {
	for i := range settings {
		settings[i].Throttled = share
	}
	return settings
}

func TestThrottlingIsJudgedOnce(t *testing.T) {
	flat := func() []Truth {
		return []Truth{Unset(3, 990, .012), Set(1, 400, .02), Set(2, 1000, .010), Set(3, 990, .012)}
	}
	rising := func() []Truth {
		return []Truth{Unset(3, 1300, .010), Set(1, 400, .03), Set(2, 850, .02), Set(3, 1300, .010)}
	}
	over := func() []Truth {
		return []Truth{Unset(8, 600, .030), Set(1, 590, .031), Set(2, 595, .030), Set(4, 610, .030), Set(8, 600, .030)}
	}
	for _, c := range []struct {
		name   string
		config Config
		around bool // the session has a limit of 3 CPUs, which nothing counted
		state  verdict.ThrottlingState
		advice verdict.ThrottlingAdvice
		procs  int
		own    bool
	}{
		{"no limit anywhere", Config{Settings: flat()}, false, verdict.ThrottledNo, "", 0, false},
		{"a limit that did not throttle", Config{Settings: flat(), Trial: around(3, 0)}, false, verdict.ThrottledNo, "", 0, false},
		{"a limit around the session throttled 64 of 102 periods", Config{Settings: rising(), Trial: around(3, 64)}, false, verdict.ThrottledYes, verdict.AdviceProven, 0, false},
		{"the session has a limit, and nothing counted it", Config{Settings: flat()}, true, verdict.ThrottledUnknown, "", 0, false},
		{"hardly", Config{Settings: Quota(2.5, throttledBy(0.04, flat()...)...), Trial: around(3, 0)}, false, verdict.ThrottledYes, verdict.AdviceMeasured, 2, true},
		// 2.5 CPUs and 3 Ps: the trials, not the rounding, say what is best.
		{"fewer Ps are as good", Config{Settings: Quota(2.5, throttledBy(0.6, flat()...)...), CPUs: 3}, false, verdict.ThrottledYes, verdict.AdviceMeasured, 2, true},
		{"fewer Ps are worse", Config{Settings: Quota(2.5, throttledBy(0.6, rising()...)...), CPUs: 3}, false, verdict.ThrottledYes, verdict.AdviceProven, 0, true},
		{"fewer Ps are worse, and carry the rate", Config{Settings: Quota(2.5, throttledBy(0.6, rising()...)...), CPUs: 3, SmallFor: true}, false, verdict.ThrottledYes, verdict.AdviceLower, 1, true},
		{"nothing proven, more Ps than the quota", Config{Settings: Quota(2, append(throttledBy(0.6, slices.Delete(over(), 2, 3)...), throttledBy(0.1, Set(2, 595, .030))...)...), Noise: &Noise{Trial: 0.3, P99: 0.5}}, false, verdict.ThrottledYes, verdict.AdviceLower, 2, true},
		{"nothing proven, and fewer Ps are throttled as much", Config{Settings: Quota(2, throttledBy(0.6, over()...)...), Noise: &Noise{Trial: 0.3, P99: 0.5}}, false, verdict.ThrottledYes, verdict.AdviceRaise, 0, true},
		{"all the same, and throttled as much", Config{Settings: Quota(0.5, throttledBy(1, Unset(2, 500, .09), Set(1, 500, .09), Set(2, 500, .09), Set(4, 500, .09))...)}, false, verdict.ThrottledYes, verdict.AdviceRaise, 0, true},
		{"nothing proven, no more Ps than the quota", Config{Settings: Quota(8, throttledBy(0.6, over()...)...), Noise: &Noise{Trial: 0.3, P99: 0.5}}, false, verdict.ThrottledYes, verdict.AdviceRaise, 0, true},
		{"only values that nobody runs", Config{Settings: Quota(2, append([]Truth{Unset(2, 1000, .010), Set(1, 500, .02), Set(2, 1000, .010)}, throttledBy(0.8, Set(8, 500, .03))...)...)}, false, verdict.ThrottledNo, verdict.AdviceAvoid, 2, true},
	} {
		if c.config.Noise == nil {
			c.config.Noise = quiet
		}
		c.config.Rate = 100
		h, trials := Generate(c.config)
		if c.around {
			h.TargetHost.EffectiveCPUs = 3
		}
		r := verdict.Analyze(h, trials)
		got, procs := r.Groups[0].Throttling, 0
		if got.Procs != nil {
			procs = *got.Procs
		}
		if got.State != c.state || got.Advice != c.advice || procs != c.procs || got.AdviceOwn != c.own {
			t.Errorf("%s: %s, %q %d, own %v; want %s, %q %d, own %v: %s", c.name, got.State, got.Advice, procs, got.AdviceOwn, c.state, c.advice, c.procs, c.own, r.Groups[0].Recommendation.Verdict)
		}
	}
}

// What cannot be read is not known to be none.
func TestHiddenLimits(t *testing.T) {
	for counted, want := range map[bool]verdict.ThrottlingState{false: verdict.ThrottledUnknown, true: verdict.ThrottledNo} {
		c := Config{Noise: quiet, Rate: 100, Settings: []Truth{Unset(3, 990, .012), Set(2, 1000, .010), Set(3, 990, .012)}}
		if counted {
			c.Trial = around(3, 0)
		}
		h, trials := Generate(c)
		h.TargetHost.LimitsUnknown = true
		if got := verdict.Analyze(h, trials).Groups[0].Throttling; got.State != want || got.OuterKnown != counted {
			t.Errorf("counted: %v: %+v, expected %s", counted, got, want)
		}
	}
}

func TestTheLimitThatThrottledIsNamed(t *testing.T) {
	r := analyze(Config{Noise: quiet, Rate: 100, Settings: []Truth{Unset(3, 1300, .010), Set(1, 400, .03), Set(3, 1300, .010)}, Trial: around(3, 64)})
	g := r.Groups[0]
	if x := g.Throttling; x.Own || x.Group != "/session" || *x.LimitCPUs != 3 || *x.Share < 0.62 || *x.Share > 0.63 {
		t.Errorf("%+v", x)
	}
	if l := g.LimitAround; l == nil || l.CPUs != 3 || l.Group != "/session" {
		t.Errorf("the limit around it is %+v", l)
	}
	if g.EffectiveCPUs != 3 || !has[verdict.ThrottledAround](r) {
		t.Errorf("%g CPUs, %v", g.EffectiveCPUs, codes(r))
	}
}

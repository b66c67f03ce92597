package report

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/report/reporttest"
	"github.com/procfit/procfit/internal/stat"
)

func ptr[T any](x T) *T { return &x }

// world is a group of two arms, unset and 2, to be bent by a test.
func world(bend func(*stat.Result, *stat.Group)) *View {
	r := reporttest.Typical()
	r.Groups[0].Arms = r.Groups[0].Arms[:3]
	r.Host.EffectiveCPUs = 8
	r.Groups[0].EffectiveCPUs = 8
	bend(r, &r.Groups[0])
	return New(r)
}

func TestChecklistAnswersFromTheData(t *testing.T) {
	for _, c := range []struct {
		name   string
		number int
		bend   func(*stat.Result, *stat.Group)
		state  State
		answer string
		detail string // a part of it
	}{
		{"measured", 1, func(*stat.Result, *stat.Group) {}, OK, "yes", "18 valid trials of 3 arms"},
		{"nothing valid", 1, func(_ *stat.Result, g *stat.Group) {
			for i := range g.Arms {
				g.Arms[i].Trials = 0
			}
		}, Attention, "no", "measure first"},
		{"interrupted", 1, func(r *stat.Result, _ *stat.Group) { r.Complete = false }, Attention, "in part", "not finished"},

		{"read by its symbol", 2, func(*stat.Result, *stat.Group) {}, OK, "8", "read from the target's memory (symbol)"},
		{"unreadable", 2, func(_ *stat.Result, g *stat.Group) { g.Arms[0].ResolvedProcs = nil }, Unknown, "cannot tell", "could not be read"},
		{"unset never valid", 2, func(_ *stat.Result, g *stat.Group) { g.Arms[0].Trials, g.Arms[0].ResolvedProcs = 0, nil }, Unknown, "cannot tell", "no valid trial"},
		{"no unset arm", 2, func(_ *stat.Result, g *stat.Group) { g.Arms = g.Arms[1:] }, Unknown, "cannot tell", "--procs unset"},

		{"affinity", 3, func(*stat.Result, *stat.Group) {}, OK, "8", "never the quota"},
		{"server cpuset", 3, func(r *stat.Result, _ *stat.Group) { r.Target.ServerCPUs = "0-2" }, OK, "3", "may run on"},
		{"unknown", 3, func(r *stat.Result, _ *stat.Group) { r.Host.AffinityCPUs = 0 }, Unknown, "cannot tell", "does not name"},

		{"equal, no limit", 4, func(*stat.Result, *stat.Group) {}, OK, "yes", "8 and 8, under no CPU limit"},
		{"equal, quota not seen", 4, func(_ *stat.Result, g *stat.Group) { g.QuotaCPUs = ptr(3.0) }, Attention, "yes", "does not see it"},
		{"equal, outer limit", 4, func(r *stat.Result, _ *stat.Group) { r.Host.EffectiveCPUs = 2 }, Attention, "yes", "a limit of 2 CPUs"},
		{"equal by the floor of two", 4, func(r *stat.Result, g *stat.Group) {
			r.Host.AffinityCPUs, g.Arms[0].ResolvedProcs, g.QuotaCPUs = 2, ptr(2), ptr(0.5)
		}, OK, "yes", "never below 2"},
		{"quota honoured", 4, func(_ *stat.Result, g *stat.Group) { g.Arms[0].ResolvedProcs, g.QuotaCPUs = ptr(3), ptr(2.5) }, OK, "no", "rounded up"},
		{"quota honoured, floor", 4, func(_ *stat.Result, g *stat.Group) { g.Arms[0].ResolvedProcs, g.QuotaCPUs = ptr(2), ptr(0.5) }, OK, "no", "at least 2"},
		{"unexplained", 4, func(_ *stat.Result, g *stat.Group) { g.Arms[0].ResolvedProcs = ptr(5) }, Attention, "no", "procfit explain"},

		{"both", 5, func(*stat.Result, *stat.Group) {}, OK, "both", "open loop at 5.9k req/s"},
		{"closed only", 5, func(_ *stat.Result, g *stat.Group) { g.LatencyMode = "closed" }, Attention, "throughput", "not judged"},
		{"batch", 5, func(r *stat.Result, g *stat.Group) { r.Target.Kind, g.LatencyMode = "batch", "" }, OK, "throughput", "whole runs"},
		{"trade-off", 5, func(_ *stat.Result, g *stat.Group) {
			g.Recommendation = stat.Recommendation{Verdict: stat.TradeOff, BestThroughput: "2", BestP99: "1", Claim: stat.Reason{Of: &stat.Setting{Procs: 2}, Than: &stat.Setting{Procs: 1}, P99Change: new(-0.5)}}
		}, Attention, "both", "throughput 2, p99 1"},

		{"an arm never valid", 6, func(_ *stat.Result, g *stat.Group) { g.Arms[1].Trials = 0 }, Attention, "no", "3 settings, not all with a valid trial"},
		{"three settings", 6, func(*stat.Result, *stat.Group) {}, Attention, "no", "3 settings"},
		{"production", 7, func(*stat.Result, *stat.Group) {}, Unknown, "only you can tell", "after (2): 12.8k req/s"},

		{"no quota", 8, func(*stat.Result, *stat.Group) {}, OK, "no", "set no quota"},
		{"quota, unreadable", 8, func(_ *stat.Result, g *stat.Group) { g.QuotaCPUs = ptr(2.0) }, Unknown, "cannot tell", "could not be read"},
		{"quota, never throttled", 8, throttled(2, 0, 0), OK, "no", "0 %"},
		{"hardly throttled", 8, throttled(2, 0.004, 0), OK, "hardly", "0.4 %"},
		{"more Ps than quota", 8, throttled(2, 0.63, 0), Attention, "yes", "lower GOMAXPROCS first"},
		{"Ps within the quota", 8, throttled(2, 0, 0.2), Attention, "yes", "raise it"},
		{"one P above half a CPU", 8, func(_ *stat.Result, g *stat.Group) {
			g.QuotaCPUs = ptr(0.5)
			g.Recommendation.Arm = "1"
			g.Arms[1].Evidence.ThrottledPeriodsRatio = ptr(0.5)
		}, Attention, "yes", "raise it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := world(c.bend).Groups[0].Checklist
			if len(got) != 8 {
				t.Fatalf("%d points, want 8", len(got))
			}
			p := got[c.number-1]
			if p.Number != c.number || p.State != c.state || p.Answer != c.answer || !strings.Contains(p.Detail, c.detail) {
				t.Errorf("%d %s: %s, %s (%s)\nwant %s, %s (…%s…)", p.Number, p.Question, p.State, p.Answer, p.Detail, c.state, c.answer, c.detail)
			}
		})
	}
}

// throttled sets a quota and how much of the periods the unset arm (8 Ps) and the
// recommended one (2 Ps) were throttled.
func throttled(quota, unset, two float64) func(*stat.Result, *stat.Group) {
	return func(_ *stat.Result, g *stat.Group) {
		g.QuotaCPUs = &quota
		g.Arms[0].Evidence.ThrottledPeriodsRatio, g.Arms[2].Evidence.ThrottledPeriodsRatio = &unset, &two
	}
}

func TestThrottlingReadsOneWayOnly(t *testing.T) {
	over := world(throttled(2, 0.63, 0)).Groups[0].Checklist[7].Detail
	if strings.Contains(over, "raise") {
		t.Errorf("more Ps than the quota, and yet: %s", over)
	}
	within := world(throttled(2, 0, 0.63)).Groups[0].Checklist[7].Detail
	if strings.Contains(within, "lower") {
		t.Errorf("Ps within the quota, and yet: %s", within)
	}
}

func TestMistakesAreLookedFor(t *testing.T) {
	for _, c := range []struct {
		name   string
		number int
		bend   func(*stat.Result, *stat.Group)
		answer string
	}{
		{"nothing proven", 1, func(_ *stat.Result, g *stat.Group) { g.Recommendation = stat.Recommendation{Verdict: stat.CannotTell} }, "careful"},
		{"no arm above the CPUs", 2, func(*stat.Result, *stat.Group) {}, "cannot tell"},
		{"arms on both sides", 2, func(_ *stat.Result, g *stat.Group) { g.EffectiveCPUs = 1 }, "measured"},
		{"shared machine", 4, func(*stat.Result, *stat.Group) {}, "made"},
		{"load from elsewhere", 4, func(r *stat.Result, _ *stat.Group) { r.Load.SameMachine = false }, "avoided"},
		{"p99 judged", 6, func(*stat.Result, *stat.Group) {}, "avoided"},
		{"p99 not judged", 6, func(_ *stat.Result, g *stat.Group) { g.LatencyMode = "closed" }, "careful"},
		{"flat", 7, func(_ *stat.Result, g *stat.Group) { g.Recommendation.Verdict = stat.NotYourKnob }, "profile first"},
		{"ran as asked", 8, func(*stat.Result, *stat.Group) {}, "avoided"},
		{"pinned in code", 8, func(_ *stat.Result, g *stat.Group) { g.Arms[2].ResolvedProcs = ptr(7) }, "made"},
		{"unreadable", 9, func(_ *stat.Result, g *stat.Group) { g.Arms[2].ResolvedProcs = nil }, "cannot tell"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := world(c.bend).Groups[0].Mistakes
			if len(got) != 10 {
				t.Fatalf("%d mistakes, want 10", len(got))
			}
			if m := got[c.number-1]; m.Answer != c.answer {
				t.Errorf("%s: %s (%s), want %s", m.Question, m.Answer, m.Detail, c.answer)
			}
		})
	}
}

package page_test

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// world is a group of two settings, unset and 2, to be bent by a test.
func world(bend func(*verdict.Result, *verdict.Group)) *verdict.Result {
	r := pagetest.Typical()
	r.Groups[0].Settings, r.Groups[0].Rows = r.Groups[0].Settings[:3], nil
	r.Host.EffectiveCPUs = 8
	r.Groups[0].EffectiveCPUs = 8
	bend(r, &r.Groups[0])
	return r
}

// The checklist says "no CPU limit" only where there is no limit: the one that a server was found under, or
// that procfit itself runs under, is named with its cgroup.
func TestTheLimitAroundIsNamed(t *testing.T) {
	said := func(limit *journal.OuterLimit) string {
		v := page.VerdictOf(world(func(r *verdict.Result, g *verdict.Group) { g.LimitAround, g.EffectiveCPUs = limit, 1 }))
		return v.Context + "\n" + strings.Join(v.Reasons, "\n")
	}
	text := said(&journal.OuterLimit{CPUs: 1, Group: "/sys/fs/cgroup/cpu/shop"})
	has(t, text, "limit of 1 CPU on the parent cgroup /sys/fs/cgroup/cpu/shop", "holds for what it was measured on (1 CPU, limit of 1 CPU on the parent cgroup /sys/fs/cgroup/cpu/shop, Go 1.24.6);")
	if strings.Contains(text, "no CPU limit") {
		t.Errorf("there is a limit, and yet:\n%s", text)
	}
	if text := said(nil); strings.Count(text, "no CPU limit") != 2 {
		t.Errorf("without a limit:\n%s", text)
	}
	unseen := world(func(r *verdict.Result, _ *verdict.Group) { r.Host.LimitsUnknown = true })
	if got := page.VerdictOf(unseen).Context; !strings.Contains(got, "no known CPU limit") {
		t.Errorf("where limits may be hidden: %q", got)
	}
}

// Nothing is to be changed as long as it is not known what the program runs with now.
func TestNothingIsSetThatIsUnclear(t *testing.T) {
	known := world(func(*verdict.Result, *verdict.Group) {})
	unclear := world(func(_ *verdict.Result, g *verdict.Group) {
		g.Settings, g.Default = g.Settings[1:], verdict.Default{Standing: verdict.DefaultUnknown, NumCPU: 8}
	})
	if a, p := page.VerdictOf(known).Answer, sections(known)[0]; a.Text != "Set GOMAXPROCS=2" || a.Brief != "set 2" || a.Apply != "export GOMAXPROCS=2" || len(p.Snippets) == 0 {
		t.Errorf("%+v, %+v", a, p)
	}
	a, p := page.VerdictOf(unclear).Answer, sections(unclear)[0]
	if a.Text != "Recommended: GOMAXPROCS=2; change nothing yet" || a.Brief != "recommended 2" || a.Apply != "" || len(p.Snippets) > 0 || !strings.HasPrefix(p.Lead, "Nothing to set yet. What is the current value? The default was not measured") {
		t.Errorf("%+v, %+v", a, p)
	}
}

// point is how a question of a checklist is answered in a world.
type point struct {
	name   string
	number int
	bend   func(*verdict.Result, *verdict.Group)
	state  document.Tone // empty: any
	answer string
	detail string // a part of it
}

func (c point) in(t *testing.T, list document.Checks, n int) {
	t.Helper()
	if len(list) != n {
		t.Fatalf("%s: %d points, want %d", c.name, len(list), n)
	}
	if p := list[c.number-1]; p.Number != c.number || c.state != "" && p.State != c.state || p.Answer != c.answer || !strings.Contains(p.Detail, c.detail) {
		t.Errorf("%s: %d %s: %s, %s (%s)\nwant %s, %s (…%s…)", c.name, p.Number, p.Question, p.State, p.Answer, p.Detail, c.state, c.answer, c.detail)
	}
}

func TestChecklistAnswersFromTheData(t *testing.T) {
	for _, c := range []point{
		{"measured", 1, func(*verdict.Result, *verdict.Group) {}, document.OK, "yes", "18 valid trials of 3 settings"},
		{"nothing valid", 1, func(_ *verdict.Result, g *verdict.Group) {
			for i := range g.Settings {
				g.Settings[i].Trials = 0
			}
		}, document.Attention, "no", "measure first"},
		{"interrupted", 1, func(r *verdict.Result, _ *verdict.Group) { r.Complete = false }, document.Attention, "in part", "planned trials are missing"},

		{"read by its symbol", 2, func(*verdict.Result, *verdict.Group) {}, document.OK, "8", "read from the target's memory (symbol)"},
		{"unreadable", 2, func(_ *verdict.Result, g *verdict.Group) { g.Settings[0].ResolvedProcs = nil }, document.Unknown, "unknown", "could not be read"},
		{"unset never valid", 2, func(_ *verdict.Result, g *verdict.Group) { g.Settings[0].Trials, g.Settings[0].ResolvedProcs = 0, nil }, document.Unknown, "unknown", "no valid trial"},
		{"no unset setting", 2, func(_ *verdict.Result, g *verdict.Group) { g.Settings = g.Settings[1:] }, document.Unknown, "unknown", "--procs default"},

		{"its own CPUs", 3, func(*verdict.Result, *verdict.Group) {}, document.OK, "2", "CPU limit in NumCPU"},
		{"server cpuset", 3, func(_ *verdict.Result, g *verdict.Group) { g.Default.NumCPU = 3 }, document.OK, "3", "may run on"},
		{"unknown", 3, func(_ *verdict.Result, g *verdict.Group) { g.Default.NumCPU = 0 }, document.Unknown, "unknown", "does not name"},

		{"equal, no limit", 4, byDefault(verdict.DefaultAll, 8, 8), document.OK, "yes", "8 and 8, under no CPU limit"},
		{"equal, limit not seen", 4, byDefault(verdict.DefaultUnseenLimit, 8, 2), document.Attention, "yes", "8 and 8, although under a limit of 2 CPUs: the default of this program ignores it"},
		{"equal by the floor of two", 4, byDefault(verdict.DefaultFloor, 2, 0.5), document.OK, "yes", "never below 2"},
		{"limit honoured", 4, byDefault(verdict.DefaultLimit, 3, 2.5), document.OK, "no", "3 against 8: since Go 1.25 the default is the limit (2.5 CPUs) rounded up"},
		{"unexplained", 4, byDefault(verdict.DefaultUnexplained, 5, 8), document.Attention, "no", "procfit explain"},
		{"not known", 4, func(_ *verdict.Result, g *verdict.Group) {
			g.Default = verdict.Default{Standing: verdict.DefaultUnknown}
		}, document.Unknown, "unknown", "one of the two"},

		{"both", 5, func(*verdict.Result, *verdict.Group) {}, document.OK, "both", "latency phase (open loop) at 5.9k req/s"},
		{"too few requests", 5, func(_ *verdict.Result, g *verdict.Group) { g.Latency.Quantile = 0 }, document.Attention, "throughput", "latency is shown but not judged"},
		{"closed only", 5, func(_ *verdict.Result, g *verdict.Group) { g.LatencyMode = "closed" }, document.Attention, "throughput", "not judged"},
		{"batch", 5, func(r *verdict.Result, g *verdict.Group) { r.Target.Kind, g.LatencyMode = "batch", "" }, document.OK, "throughput", "whole runs"},
		{"trade-off", 5, func(_ *verdict.Result, g *verdict.Group) {
			g.Recommendation = verdict.Recommendation{Verdict: verdict.TradeOff, BestThroughput: "2", BestP99: "1", Claim: verdict.ClaimTrade{Pair: verdict.Pair{Of: &contest.Value{Procs: 2}, Than: &contest.Value{Procs: 1}}, P99Change: -0.5}}
		}, document.Attention, "both", "throughput 2, p99 1"},

		{"a setting never valid", 6, func(_ *verdict.Result, g *verdict.Group) { g.Settings[1].Trials = 0 }, document.Attention, "no", "3 settings, not all with a valid trial"},
		{"two of five too slow to be the best", 6, fiveSettings(contest.ExcludedSlower), document.OK, "yes", "5 settings, 3 of them with at least 3 valid trials, 2 too slow to be the best after fewer"},
		{"two of five with two trials, and not slower", 6, fiveSettings(contest.ExcludedNoFigure), document.Attention, "no", "5 settings, 3 of them with at least 3 valid trials"},
		{"three settings", 6, func(*verdict.Result, *verdict.Group) {}, document.Attention, "no", "3 settings"},
		{"production", 7, func(*verdict.Result, *verdict.Group) {}, document.Unknown, "for you to judge", "after (2): 12.8k req/s"},

		{"no CPU limit", 8, limits(verdict.Throttling{State: verdict.ThrottledNo, OuterKnown: true}), document.OK, "no", "set no CPU limit, and no parent cgroup has one"},
		{"no quota, nothing known of others", 8, limits(verdict.Throttling{State: verdict.ThrottledUnknown}), document.Unknown, "unknown", "it is unknown whether a limit on a parent cgroup throttled it"},
		{"quota, unreadable", 8, func(_ *verdict.Result, g *verdict.Group) {
			g.QuotaCPUs, g.Throttling = new(2.0), verdict.Throttling{State: verdict.ThrottledUnknown, OuterKnown: true}
		}, document.Unknown, "unknown", "could not be read"},
		{"quota, never throttled", 8, limits(throttled(0, verdict.ThrottledNo, "", 0)), document.OK, "no", "8 (default): 0%"},
		{"hardly throttled", 8, limits(throttled(0.004, verdict.ThrottledHardly, "", 0)), document.OK, "hardly", "0.4%"},
		{"more Ps than quota", 8, limits(throttled(0.63, verdict.ThrottledYes, verdict.AdviceLower, 2)), document.Attention, "yes", "63% of periods; lower GOMAXPROCS to 2 before you raise the CPU limit"},
		{"Ps within the quota", 8, limits(throttled(0.2, verdict.ThrottledYes, verdict.AdviceRaise, 0)), document.Attention, "yes", "raise the CPU limit"},
		{"what was measured", 8, limits(throttled(0.2, verdict.ThrottledYes, verdict.AdviceMeasured, 1)), document.Attention, "yes", "GOMAXPROCS 1 is proven equally good or better"},
		{"a limit around", 8, limits(verdict.Throttling{State: verdict.ThrottledYes, Share: new(64.0 / 102), OuterKnown: true, Advice: verdict.AdviceRaise,
			Settings: []verdict.ThrottledSetting{{Label: journal.Default, Judged: true, Share: 64.0 / 102, LimitCPUs: 1.5, Group: "/session"}}}),
			document.Attention, "yes", "8 (default): 63% of periods of the limit of 1.5 CPUs on the parent cgroup /session; raise the limit on the parent cgroup"},
	} {
		c.in(t, sections(world(c.bend))[0].Checklist, 8)
	}
}

// fiveSettings has two of five measured twice, and left out for a reason.
func fiveSettings(why contest.Excluded) func(*verdict.Result, *verdict.Group) {
	return func(_ *verdict.Result, g *verdict.Group) {
		for len(g.Settings) < 5 {
			g.Settings = append(g.Settings, g.Settings[2])
		}
		for i := range g.Settings {
			g.Settings[i].Trials, g.Settings[i].Excluded = 6, nil
			if i < 2 {
				g.Settings[i].Trials, g.Settings[i].Excluded = 2, &why
			}
		}
	}
}

func byDefault(standing verdict.DefaultStanding, procs int, limit float64) func(*verdict.Result, *verdict.Group) {
	return func(_ *verdict.Result, g *verdict.Group) {
		g.Default = verdict.Default{Standing: standing, Procs: &procs, NumCPU: 8, LimitCPUs: limit}
		if standing == verdict.DefaultFloor {
			g.Default.NumCPU = procs
		}
	}
}

func limits(t verdict.Throttling) func(*verdict.Result, *verdict.Group) {
	return func(_ *verdict.Result, g *verdict.Group) { g.Throttling = t }
}

// throttled is the unset setting throttled by its own quota.
func throttled(share float64, state verdict.ThrottlingState, advice verdict.ThrottlingAdvice, procs int) verdict.Throttling {
	return verdict.Throttling{
		State: state, Share: &share, LimitCPUs: new(2.0), Own: true, OuterKnown: true, Advice: advice, AdviceOwn: true, Procs: &procs,
		Settings: []verdict.ThrottledSetting{{Label: journal.Default, Judged: true, Share: share, LimitCPUs: 2, Own: true}},
	}
}

// The checklist and the warning say the same of what is to be done.
func TestThrottlingReadsOneWayOnly(t *testing.T) {
	r := analyze(verdicttest.Config{CPUs: 3, Rate: 100, Settings: verdicttest.Quota(2.5, held(verdicttest.Unset(3, 990, .012)), verdicttest.Set(1, 400, .02), verdicttest.Set(2, 1000, .010), held(verdicttest.Set(3, 990, .012)))})
	shown := sections(r)[0]
	detail := shown.Checklist[7].Detail
	fixes := 0
	for _, w := range shown.Warnings {
		if strings.Contains(w.Message, "throttled") {
			if fixes++; w.Fix != "" && !strings.HasSuffix(detail, "; "+w.Fix) {
				t.Errorf("the warning says %q, the checklist %q", w.Fix, detail)
			}
		}
	}
	if want := "GOMAXPROCS 2 is proven equally good or better"; fixes == 0 || !strings.Contains(detail, want) || strings.Contains(detail, "cannot help") {
		t.Errorf("%d warnings; %q, want %q", fixes, detail, want)
	}
}

func held(t verdicttest.Truth) verdicttest.Truth {
	t.Throttled = 0.6
	return t
}

func TestMistakesAreLookedFor(t *testing.T) {
	for _, c := range []point{
		{"nothing proven", 1, func(_ *verdict.Result, g *verdict.Group) {
			g.Recommendation = verdict.Recommendation{Verdict: verdict.Undecided}
		}, "", "careful", ""},
		{"no setting above the CPUs", 2, func(_ *verdict.Result, g *verdict.Group) { g.Beyond = nil }, "", "unknown", ""},
		{"settings on both sides", 2, func(*verdict.Result, *verdict.Group) {}, "", "measured", ""},
		{"CPUs of its own", 4, func(*verdict.Result, *verdict.Group) {}, "", "avoided", ""},
		{"shared machine", 4, func(r *verdict.Result, _ *verdict.Group) { r.Load.Arrangement = new(journal.ArrangementShared) }, "", "made", ""},
		{"load from elsewhere", 4, func(r *verdict.Result, _ *verdict.Group) { r.Load.Arrangement = new(journal.ArrangementElsewhere) }, "", "avoided", ""},
		{"load through the API server", 4, func(r *verdict.Result, _ *verdict.Group) { r.Load.Arrangement = new(journal.ArrangementTunnel) }, "", "unknown", ""},
		{"p99 judged", 6, func(*verdict.Result, *verdict.Group) {}, "", "avoided", ""},
		{"p99 of no verdict", 6, func(_ *verdict.Result, g *verdict.Group) {
			g.Recommendation = verdict.Recommendation{Verdict: verdict.Undecided}
		}, "", "careful", ""},
		{"p99 not judged", 6, func(_ *verdict.Result, g *verdict.Group) { g.LatencyMode = "closed" }, "", "careful", ""},
		{"a batch program has no p99", 6, func(r *verdict.Result, g *verdict.Group) { r.Target.Kind, g.LatencyMode = "batch", "" }, "", "avoided", ""},
		{"flat", 7, func(_ *verdict.Result, g *verdict.Group) { g.Recommendation.Verdict = verdict.NoDifference }, "", "profile first", ""},
		{"ran as asked", 8, func(*verdict.Result, *verdict.Group) {}, "", "avoided", ""},
		{"pinned in code", 8, func(_ *verdict.Result, g *verdict.Group) { g.Override.Asked, g.Override.Ran = 2, 8 }, "", "made", ""},
		{"unreadable", 9, func(_ *verdict.Result, g *verdict.Group) { g.Override.Known = false }, "", "unknown", ""},
	} {
		c.in(t, sections(world(c.bend))[0].Mistakes, 10)
	}
}

package verdict

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// A plan that stops by other rules than those of the verdict stops measuring what the
// verdict would still compare.
func TestPlanAndVerdictHaveOneSetOfRules(t *testing.T) {
	arms := func(quota float64) []verdicttest.Truth {
		list := []verdicttest.Truth{verdicttest.Set(1, 900, 0.09), verdicttest.Set(2, 900, 0.05), verdicttest.Set(4, 900, 0.02)}
		if quota > 0 {
			return verdicttest.Quota(quota, list...)
		}
		return list
	}
	for name, tc := range map[string]struct {
		quota  float64
		change func(*journal.Header, []journal.Trial)
		want   int // MaxByLatency
	}{
		"no limit, CPUs of its own": {0, func(h *journal.Header, _ []journal.Trial) { h.Load.SameMachine = false }, 0},
		"no limit, shared CPUs":     {0, func(*journal.Header, []journal.Trial) {}, 8},
		"a limit of 1 on 8 shared":  {1, func(*journal.Header, []journal.Trial) {}, 0},
		"a limit of 7.5":            {7.5, func(*journal.Header, []journal.Trial) {}, 8},
		"a load of 7 CPUs": {1, func(_ *journal.Header, trials []journal.Trial) {
			for i := range trials {
				trials[i].Load = &journal.LoadCost{CPUSeconds: 7 * trials[i].MeasuredSeconds}
			}
		}, 1},
		"a parent's limit of 1": {0, func(_ *journal.Header, trials []journal.Trial) {
			trials[0].OuterLimits = []journal.OuterLimit{{CPUs: 1}}
		}, 1},
		"margins out of range": {0, func(h *journal.Header, _ []journal.Trial) { h.Plan.Margin, h.Plan.MarginP99 = 7, -1 }, 8},
		"an objective": {0, func(h *journal.Header, _ []journal.Trial) {
			h.Plan.SLO = &slo.Objective{}
		}, 8},
		"a trial without throughput": {0, func(_ *journal.Header, trials []journal.Trial) {
			trials[1].ThroughputPerSecond = new(0.0)
		}, 8},
	} {
		h, trials := verdicttest.Generate(verdicttest.Config{CPUs: 8, NoAA: true, Noise: &verdicttest.Noise{}, Arms: arms(tc.quota)})
		h.Load.SameMachine = true
		tc.change(&h, trials)
		g := collect(h, trials)[0]
		g.latency = g.judgeLatency(h.Plan.GateAgainst)
		w := g.settings(h, newJudge(h.Plan.Margin, h.Plan.MarginP99))
		plan := contest.Of(h, trials)[0]
		if diff := cmp.Diff(plan.Rules, w.rules); diff != "" {
			t.Errorf("%s: the plan's rules and the verdict's differ:\n%s", name, diff)
		}
		if plan.Rules.MaxByLatency != tc.want {
			t.Errorf("%s: latency may choose up to %d, want %d", name, plan.Rules.MaxByLatency, tc.want)
		}
		order := cmpopts.SortSlices(func(a, b race.Trial) bool { return a.Block < b.Block || a.Block == b.Block && a.Value < b.Value })
		if diff := cmp.Diff(plan.Trials, w.trials, order); diff != "" {
			t.Errorf("%s: the plan's trials and the verdict's differ:\n%s", name, diff)
		}
	}
}

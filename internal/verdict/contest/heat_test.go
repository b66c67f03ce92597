package contest

import (
	"reflect"
	"testing"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
)

func ptr[T any](v T) *T { return &v }

func arm(procs int, quota float64) journal.Arm {
	a := journal.Arm{Label: "unset", Replicas: 1}
	if procs > 0 {
		a.Procs = &procs
	}
	if quota > 0 {
		a.QuotaCPUs = &quota
	}
	return a
}

func header(arms ...journal.Arm) journal.Header {
	h := journal.Header{TargetHost: journal.Host{EffectiveCPUs: 8}}
	h.Plan = journal.Plan{Strategy: journal.StrategyRace, Goal: journal.GoalLikely, MaxTrials: 40, Seed: 7, Margin: 0.05, MarginP99: 0.2, Arms: arms}
	return h
}

func trial(a journal.Arm, block int, throughput, p99 float64) journal.Trial {
	return journal.Trial{
		Arm: a, Role: journal.RoleMeasure, Block: block, Valid: true, ThroughputPerSecond: &throughput,
		LatencySeconds: &journal.Latency{P99: &p99}, ObservedProcs: []*int{ptr(4)},
	}
}

// Each group is a heat with its own count of blocks and what the others leave of one
// budget; pilots and the old command of a gate are in none.
func TestHeats(t *testing.T) {
	old := arm(1, 0)
	old.Variant = journal.VariantAgainst
	h := header(arm(0, 0), arm(1, 0), arm(2, 0), old, arm(1, 2))
	pilot := trial(arm(0, 2), 0, 9, 9)
	pilot.Role = journal.RolePilot
	failed := trial(arm(2, 0), 4, 70, 0.1)
	failed.Valid = false
	trials := []journal.Trial{
		pilot, trial(arm(1, 0), 0, 50, 0.3), trial(arm(0, 0), 0, 90, 0.2), trial(arm(1, 2), 1, 40, 0.4),
		trial(old, 0, 10, 0.1), failed, trial(arm(1, 0), 4, 60, 0.3),
	}
	heats := Of(h, trials)
	if len(heats) != 2 {
		t.Fatalf("%d heats, want one for each quota", len(heats))
	}
	first := heats[0]
	want := []race.Trial{
		{Value: 1, Throughput: 50, P99: 0.3}, {Value: 4, Unset: true, Throughput: 90, P99: 0.2},
		{Value: 2, Block: 1, Failed: true}, {Value: 1, Block: 1, Throughput: 60, P99: 0.3},
	}
	if !reflect.DeepEqual(first.Trials, want) || !reflect.DeepEqual(first.Blocks, []int{0, 4}) {
		t.Errorf("%+v in blocks %v, want %+v in 0 and 4", first.Trials, first.Blocks, want)
	}
	rules := race.Rules{Values: []int{1, 2, 4}, Default: 4, Margin: 0.05, MarginP99: 0.2, Goal: race.Likely, MaxTrials: 37, Seed: 7, Latency: true}
	if !reflect.DeepEqual(first.Rules, rules) {
		t.Errorf("%+v, want %+v", first.Rules, rules)
	}
	if r := heats[1].Rules; r.Default != 0 || !reflect.DeepEqual(r.Values, []int{1}) || r.MaxTrials != 34 || r.Seed == 7 {
		t.Errorf("the heat without an unset arm has %+v", r)
	}
	if heats := Of(h, nil); heats[0].Rules.Latency || heats[0].Rules.Default != 8 || heats[1].Trials != nil {
		t.Errorf("without trials: %+v", heats)
	}
}

// The unset arm stands for its value where that is no arm, and a value for unset.
func TestArm(t *testing.T) {
	both := Of(header(arm(0, 0), arm(1, 0), arm(8, 0)), nil)[0]
	numbers := Of(header(arm(1, 0), arm(8, 0)), nil)[0]
	few := Of(header(arm(0, 0), arm(1, 0)), nil)[0]
	for _, c := range []struct {
		heat   Heat
		choice race.Choice
		want   int // 0: unset
	}{
		{both, race.Choice{Value: 8}, 8}, {both, race.Choice{Value: 8, Unset: true}, 0}, {both, race.Choice{Value: 1}, 1},
		{numbers, race.Choice{Value: 8, Unset: true}, 8}, {few, race.Choice{Value: 8}, 0}, {few, race.Choice{Value: 1}, 1},
	} {
		if got := c.heat.Arm(c.choice); got.Key().Procs != c.want {
			t.Errorf("%+v of %v runs %+v, want %d", c.choice, c.heat.Rules.Values, got, c.want)
		}
	}
}

// The rate that was offered counts where the throughput is of requests too.
func TestRate(t *testing.T) {
	for unit, want := range map[string]float64{"requests": 50, "rows": 0} {
		tr := trial(arm(1, 0), 0, 90, 0.1)
		tr.ThroughputUnit, tr.Phases = unit, []journal.Phase{{Mode: journal.ModeClosed}, {Mode: journal.ModeOpen, RatePerSecond: ptr(50.0)}}
		if got := Of(header(arm(1, 0)), []journal.Trial{tr})[0].Rules.Rate; got != want {
			t.Errorf("throughput in %s: %g, want %g", unit, got, want)
		}
		searching := header(arm(1, 0))
		searching.Plan.SLO = &slo.Objective{}
		if got := Of(searching, []journal.Trial{tr})[0].Rules.Rate; got != 0 {
			t.Errorf("trials that try rates of their own: %g, want none", got)
		}
	}
}

// What unset comes to is read from the trials, else foretold.
func TestByItself(t *testing.T) {
	observed := func(procs ...*int) []journal.Trial {
		unset := trial(arm(0, 0), 0, 1, 1)
		unset.ObservedProcs = procs
		unset.Role = journal.RolePilot
		return []journal.Trial{trial(arm(2, 0), 0, 1, 1), unset}
	}
	invalid := observed(ptr(3))
	invalid[1].Valid = false
	for name, c := range map[string]struct {
		trials []journal.Trial
		quota  float64
		want   int
	}{
		"read":            {trials: observed(ptr(3), ptr(3)), want: 3},
		"replicas differ": {trials: observed(ptr(3), ptr(2)), want: 8},
		"unreadable":      {trials: observed(nil), want: 8},
		"invalid":         {trials: invalid, want: 8},
		"small quota":     {quota: 0.5, want: 2},
		"quota":           {quota: 2.5, want: 3},
		"large quota":     {quota: 99, want: 8},
	} {
		heat := Of(header(arm(0, c.quota), arm(1, c.quota)), c.trials)[0]
		if heat.Rules.Default != c.want {
			t.Errorf("%s: %d, want %d", name, heat.Rules.Default, c.want)
		}
	}
}

// A latency is compared where its trial's own phase carries it and its generator was in
// time; where few trials do, a lower quantile is.
func TestLatencyOf(t *testing.T) {
	open := func(requests int64, j journal.Judgement) func(*journal.Trial) {
		return func(t *journal.Trial) {
			t.Phases = []journal.Phase{{Mode: journal.ModeOpen, Requests: requests, DurationSeconds: 10, Judgement: j}}
		}
	}
	for name, c := range map[string]struct {
		change   func(*journal.Trial)
		quantile float64
		of       bool
	}{
		"as it is":         {func(*journal.Trial) {}, 0.99, true},
		"none":             {func(t *journal.Trial) { t.LatencySeconds = nil }, 0, false},
		"late":             {func(t *journal.Trial) { t.Load = &journal.LoadCost{SendLagP99Seconds: ptr(0.003)} }, 0.99, false},
		"late, but small":  {func(t *journal.Trial) { t.Load = &journal.LoadCost{SendLagP99Seconds: ptr(0.0019)} }, 0.99, true},
		"few requests":     {open(1000, journal.Judgement{}), 0.9, true},
		"a phase's word":   {open(10, journal.Judgement{Judged: ptr(true)}), 0.99, true},
		"too few, it says": {open(5000, journal.Judgement{Judged: ptr(false), Quantile: 0.5, QuantileSeconds: ptr(0.001)}), 0.5, true},
	} {
		tr := trial(arm(1, 0), 0, 1, 0.01)
		if tr.LatencySeconds != nil {
			tr.LatencySeconds.P90, tr.LatencySeconds.P50 = ptr(0.005), ptr(0.002)
		}
		c.change(&tr)
		j := LatencyOf(tr.Arm.Group(), []*journal.Trial{&tr})
		if j.Quantile != c.quantile || (j.Of(&tr) != nil) != c.of {
			t.Errorf("%s: %+v, %v; want the quantile %g", name, j, j.Of(&tr), c.quantile)
		}
	}
}

// Where the load has the target's CPUs, latency prefers no value beyond them.
func TestMaxByLatency(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*journal.Header)
		quota  float64
		want   int
	}{
		"elsewhere": {func(*journal.Header) {}, 0, 0},
		"shared":    {func(h *journal.Header) { h.Load.Arrangement = ptr(journal.ArrangementShared) }, 0, 8},
		"a CPU limit that leaves the load its CPUs": {func(h *journal.Header) { h.Load.Arrangement = ptr(journal.ArrangementShared) }, 1.5, 0},
		"a CPU limit that leaves it hardly any":     {func(h *journal.Header) { h.Load.Arrangement = ptr(journal.ArrangementShared) }, 7.5, 8},
		"apart":                                     {func(h *journal.Header) { h.Load.SameMachine, h.Load.Arrangement = true, ptr(journal.ArrangementApart) }, 0, 0},
		"of before":                                 {func(h *journal.Header) { h.Target.Kind, h.Load.SameMachine = journal.KindServer, true }, 0, 8},
		"parted, before": {func(h *journal.Header) {
			h.Target.Kind, h.Load.SameMachine, h.Target.ServerCPUs, h.Load.LoadCPUs = journal.KindServer, true, "0-5", "6,7"
		}, 0, 0},
		"overlapping": {func(h *journal.Header) {
			h.Target.Kind, h.Load.SameMachine, h.Target.ServerCPUs = journal.KindServer, true, "0-5"
		}, 0, 6},
	} {
		h := header(arm(1, c.quota))
		c.change(&h)
		if got := Of(h, nil)[0].Rules.MaxByLatency; got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

package contest

import (
	"reflect"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
)

func setting(procs int, quota float64) journal.Setting {
	a := journal.Setting{Label: journal.Default, Replicas: 1}
	if procs > 0 {
		a.Procs = &procs
	}
	if quota > 0 {
		a.QuotaCPUs = &quota
	}
	return a
}

func header(settings ...journal.Setting) journal.Header {
	h := journal.Header{TargetHost: journal.Host{EffectiveCPUs: 8}}
	h.Plan = journal.Plan{Strategy: journal.StrategyRace, Goal: journal.GoalLikely, MaxTrials: 40, Seed: 7, Margin: 0.05, MarginP99: 0.2, Settings: settings}
	return h
}

func trial(a journal.Setting, block int, throughput, p99 float64) journal.Trial {
	return journal.Trial{
		Setting: a, Role: journal.RoleMeasure, Block: block, Valid: true, ThroughputPerSecond: &throughput,
		LatencySeconds: &journal.Latency{P99: &p99}, ObservedProcs: []*int{new(4)},
	}
}

// Each group is a contest with its own count of blocks and what the others leave of one
// budget; pilots and the old command of a gate are in none.
func TestContests(t *testing.T) {
	old := setting(1, 0)
	old.Variant = journal.VariantAgainst
	h := header(setting(0, 0), setting(1, 0), setting(2, 0), old, setting(1, 2))
	pilot := trial(setting(0, 2), 0, 9, 9)
	pilot.Role = journal.RolePilot
	failed := trial(setting(2, 0), 4, 70, 0.1)
	failed.Valid = false
	trials := []journal.Trial{
		pilot, trial(setting(1, 0), 0, 50, 0.3), trial(setting(0, 0), 0, 90, 0.2), trial(setting(1, 2), 1, 40, 0.4),
		trial(old, 0, 10, 0.1), failed, trial(setting(1, 0), 4, 60, 0.3),
	}
	contests := Count(h, trials).Contests()
	if len(contests) != 2 {
		t.Fatalf("%d contests, want one for each quota", len(contests))
	}
	first := contests[0]
	want := []race.Trial{
		{Value: 1, Throughput: 50, P99: 0.3}, {Value: 4, Unset: true, Throughput: 90, P99: 0.2},
		{Value: 2, Block: 1, Failed: true}, {Value: 1, Block: 1, Throughput: 60, P99: 0.3},
	}
	if !reflect.DeepEqual(first.trials, want) || !reflect.DeepEqual(first.Blocks, []int{0, 4}) {
		t.Errorf("%+v in blocks %v, want %+v in 0 and 4", first.trials, first.Blocks, want)
	}
	rules := race.Rules{Values: []int{1, 2, 4}, Default: 4, Margin: 0.05, MarginP99: 0.2, Goal: race.Likely, MaxTrials: 37, Seed: 7, Latency: true}
	if !reflect.DeepEqual(first.rules, rules) {
		t.Errorf("%+v, want %+v", first.rules, rules)
	}
	if r := contests[1].rules; r.Default != 0 || !reflect.DeepEqual(r.Values, []int{1}) || r.MaxTrials != 34 || r.Seed == 7 {
		t.Errorf("the contest without an unset setting has %+v", r)
	}
	if contests := Count(h, nil).Contests(); contests[0].rules.Latency || contests[0].rules.Default != 8 || contests[1].trials != nil {
		t.Errorf("without trials: %+v", contests)
	}
}

// The unset setting represents its value where that is no setting, and a value for unset.
func TestSetting(t *testing.T) {
	both := Count(header(setting(0, 0), setting(1, 0), setting(8, 0)), nil).Contests()[0]
	numbers := Count(header(setting(1, 0), setting(8, 0)), nil).Contests()[0]
	few := Count(header(setting(0, 0), setting(1, 0)), nil).Contests()[0]
	for _, c := range []struct {
		contest *Contest
		choice  race.Choice
		want    int // 0: unset
	}{
		{both, race.Choice{Value: 8}, 8}, {both, race.Choice{Value: 8, Unset: true}, 0}, {both, race.Choice{Value: 1}, 1},
		{numbers, race.Choice{Value: 8, Unset: true}, 8}, {few, race.Choice{Value: 8}, 0}, {few, race.Choice{Value: 1}, 1},
	} {
		if got := c.contest.setting(c.choice); got.Key().Procs != c.want {
			t.Errorf("%+v of %v runs %+v, want %d", c.choice, c.contest.rules.Values, got, c.want)
		}
	}
}

// The rate that was offered counts where the throughput is of requests too.
func TestRate(t *testing.T) {
	for unit, want := range map[string]float64{"requests": 50, "rows": 0} {
		tr := trial(setting(1, 0), 0, 90, 0.1)
		tr.ThroughputUnit, tr.Phases = unit, []journal.Phase{{Mode: journal.ModeClosed}, {Mode: journal.ModeOpen, RatePerSecond: new(50.0)}}
		if got := Count(header(setting(1, 0)), []journal.Trial{tr}).Contests()[0].rules.Rate; got != want {
			t.Errorf("throughput in %s: %g, want %g", unit, got, want)
		}
		searching := header(setting(1, 0))
		searching.Plan.SLO = &slo.Objective{}
		if got := Count(searching, []journal.Trial{tr}).Contests()[0].rules.Rate; got != 0 {
			t.Errorf("trials that try rates of their own: %g, want none", got)
		}
	}
}

// What unset comes to is read from the trials, else foretold.
func TestByItself(t *testing.T) {
	observed := func(procs ...*int) []journal.Trial {
		unset := trial(setting(0, 0), 0, 1, 1)
		unset.ObservedProcs = procs
		unset.Role = journal.RolePilot
		return []journal.Trial{trial(setting(2, 0), 0, 1, 1), unset}
	}
	invalid := observed(new(3))
	invalid[1].Valid = false
	for name, c := range map[string]struct {
		trials []journal.Trial
		quota  float64
		want   int
	}{
		"read":            {trials: observed(new(3), new(3)), want: 3},
		"replicas differ": {trials: observed(new(3), new(2)), want: 2},
		"unreadable":      {trials: observed(nil), want: 8},
		"invalid":         {trials: invalid, want: 8},
		"small quota":     {quota: 0.5, want: 2},
		"quota":           {quota: 2.5, want: 3},
		"large quota":     {quota: 99, want: 8},
	} {
		contest := Count(header(setting(0, c.quota), setting(1, c.quota)), c.trials).Contests()[0]
		if contest.rules.Default != c.want {
			t.Errorf("%s: %d, want %d", name, contest.rules.Default, c.want)
		}
	}
}

// A plan that stopped by other rules than those of the verdict would stop measuring what
// the verdict still compares; there is one constructor, and these are its rules.
func TestRules(t *testing.T) {
	shared := func(h *journal.Header) {
		h.Target.Kind, h.Load.Arrangement = journal.KindServer, new(journal.ArrangementShared)
	}
	with := func(load float64, change func(*journal.Trial)) []journal.Trial {
		tr := trial(setting(1, 0), 0, 90, 0.1)
		tr.MeasuredSeconds, tr.Load = 2, &journal.LoadCost{CPUSeconds: 2 * load}
		if change != nil {
			change(&tr)
		}
		return []journal.Trial{tr}
	}
	for name, c := range map[string]struct {
		change func(*journal.Header)
		quota  float64
		trials []journal.Trial
		want   int // MaxByLatency
	}{
		"load elsewhere": {change: func(*journal.Header) {}},
		"shared":         {change: shared, want: 8},
		"apart":          {change: func(h *journal.Header) { h.Load.Arrangement = new(journal.ArrangementApart) }},
		"overlapping lists": {change: func(h *journal.Header) {
			shared(h)
			h.Target.ServerCPUs, h.Load.LoadCPUs = cpuset.Set{0, 1, 2, 3, 4, 5}, cpuset.Set{5, 6, 7}
		}, want: 6},
		"target on six": {change: func(h *journal.Header) { shared(h); h.Target.ServerCPUs = cpuset.Set{0, 1, 2, 3, 4, 5} }, want: 6},
		"a CPU limit that leaves the load its CPUs": {change: shared, quota: 1},
		"a CPU limit that leaves it hardly any":     {change: shared, quota: 7.5, want: 8},
		"a load that takes what a limit leaves": {change: shared, quota: 1, want: 1, trials: with(7, func(t *journal.Trial) {
			t.Setting = setting(1, 1)
		})},
		"a limit around the target": {change: shared, want: 2, trials: with(0, func(t *journal.Trial) {
			t.OuterLimits = []journal.OuterLimit{{CPUs: 1.5}}
		})},
	} {
		h := header(setting(1, c.quota))
		c.change(&h)
		if got := Count(h, c.trials).Contests()[0].rules.MaxByLatency; got != c.want {
			t.Errorf("%s: latency may choose up to %d, want %d", name, got, c.want)
		}
	}
	odd := header(setting(1, 0))
	odd.Plan.Margin, odd.Plan.MarginP99 = 7, -1
	if r := Count(odd, nil).Contests()[0].rules; r.Margin != 0.99 || r.MarginP99 != 0 {
		t.Errorf("margins that no plan has: %g and %g", r.Margin, r.MarginP99)
	}
	if got := Count(header(setting(1, 0)), []journal.Trial{trial(setting(1, 0), 0, 0, 0.1)}).Contests()[0].trials; !got[0].Failed {
		t.Errorf("a trial without a throughput: %+v", got)
	}
}

// Nothing is named without the default: one that fails each time ends the contest.
func TestDefaultThatFails(t *testing.T) {
	h := header(setting(0, 0), setting(1, 0), setting(4, 0))
	var trials []journal.Trial
	for block := range 3 {
		fails := trial(setting(0, 0), block, 0, 0)
		fails.Valid, fails.InvalidCode = false, journal.InvalidExit
		trials = append(trials, fails, trial(setting(1, 0), block, 90, 0.2), trial(setting(4, 0), block, 100, 0.2))
		c := Count(h, trials).Contest(fails.Setting.Group())
		if step := c.Next(); (step.Stop == StopNothing) != (block == 2) {
			t.Errorf("after %d blocks: %+v", block+1, step)
		}
	}
	goesOn := func(where string, h journal.Header) {
		if step := Count(h, trials).Contest(trials[0].Setting.Group()).Next(); step.Stop != "" {
			t.Errorf("%s: %+v", where, step)
		}
	}
	cheapest := h
	cheapest.Plan.SLO, cheapest.Load.RatePerSecond = new(slo.Objective), new(50.0)
	goesOn("where the cheapest setting that carries a rate is asked for", cheapest)
	trials[0].InvalidCode = journal.InvalidStolen
	goesOn("where the machine was taken away once", h)
	trials[0].Valid, trials[0].InvalidCode, trials[0].ThroughputPerSecond = true, "", new(95.0)
	goesOn("where it ran once", h)
}

// Trials that cannot be compared take no part, and are asked for again or not as that
// helps.
func TestParts(t *testing.T) {
	unread := header(setting(0, 0), setting(1, 0), setting(8, 0))
	unread.Plan.Listed = true
	tr := trial(setting(0, 0), 0, 50, 0.3)
	tr.ObservedProcs = []*int{nil}
	trials := []journal.Trial{tr, trial(setting(1, 0), 0, 90, 0.2), trial(setting(8, 0), 0, 80, 0.2)}
	c := Count(unread, trials).Contest(tr.Setting.Group())
	if len(c.trials) != 2 || c.Unset != PartUnread || c.rules.Default != 0 {
		t.Errorf("a default that cannot be read: %+v, %s, default %d", c.trials, c.Unset, c.rules.Default)
	}
	if step := c.Next(); len(step.Settings) != 3 || step.Settings[2].Procs != nil {
		t.Errorf("a default that cannot be read runs beside the others: %+v", step.Settings)
	}
	if only := c.only(tr.Setting); only.Level(1).Trials != 1 || only.Level(1).Throughput.Median == nil {
		t.Errorf("it alone: %+v", only.Lead().Levels)
	}

	starved := header(setting(1, 0), setting(8, 0))
	crowded := trial(setting(8, 0), 0, 50, 0.3)
	crowded.ObservedProcs = []*int{new(8)}
	crowded.Usage = journal.Usage{MeasuredSeconds: 1, CPUSeconds: &journal.CPUSeconds{User: 4}, HostUse: &journal.HostUse{TargetCPUs: 8, OtherCPUSeconds: new(4.0)}}
	var alone []journal.Trial
	for block := range 8 {
		crowded.Block = block
		alone = append(alone, crowded)
		c := Count(starved, append(slices.Clone(alone), trial(setting(1, 0), block, 90, 0.2))).Contest(crowded.Setting.Group())
		if !c.HadTooFewCPUs(crowded.Setting) || len(c.trials) != 1 {
			t.Errorf("a setting that other programs starved: %v, %+v", c.TooFewCPUs, c.trials)
		}
		if tried := len(c.rules.Values) == 2; tried != (block+1 < mostTooFewCPUs) {
			t.Errorf("after %d such trials its values are %v", block+1, c.rules.Values)
		}
		if step := Count(starved, alone).Contest(crowded.Setting.Group()).Next(); step.Stop != "" || len(step.Settings) != 2 {
			t.Errorf("where all are starved, after %d trials: %+v", block+1, step)
		}
	}

	apart := header(setting(0, 0), setting(1, 0), setting(4, 0))
	var both []journal.Trial
	for block := range 6 {
		x := 1 + 0.001*float64(block%3)
		both = append(both, trial(setting(0, 0), block, 50*x, 0.3), trial(setting(4, 0), block, 90*x, 0.3), trial(setting(1, 0), block, 40*x, 0.3))
	}
	c = Count(apart, both).Contest(both[0].Setting.Group())
	if c.Unset != PartDiffers || c.Level(4).Trials != 6 || c.rules.Default != 0 {
		t.Errorf("a default unlike its number: %s, %+v", c.Unset, c.Level(4))
	}
	if a := c.Answer(); a == nil || a.Key().Procs != 4 {
		t.Errorf("the number is the answer, and not the default that is unlike it: %+v", a)
	}
	for i := range both {
		if both[i].Setting.Procs == nil {
			both[i].ThroughputPerSecond = new(90 * (0.99 + 0.0001*float64(i%3)))
		}
	}
	if c = Count(apart, both).Contest(both[0].Setting.Group()); c.Unset != PartPooled || c.Level(4).Trials != 12 {
		t.Errorf("a default that differs by less than the margin: %s, %+v", c.Unset, c.Level(4))
	}
}

// A journal may be anyone's: trials of what its plan lacks are compared all the same, and no
// setting is asked for that is neither in the plan nor among the trials.
func TestTrialsThatAreNotPlanned(t *testing.T) {
	unread := trial(setting(0, 0), 0, 100, 0.1)
	unread.ObservedProcs = []*int{nil}
	for name, foreign := range map[string]journal.Trial{
		"a default": trial(setting(0, 0), 0, 100, 0.1), "a default that cannot be read": unread, "a number": trial(setting(8, 0), 0, 100, 0.1),
	} {
		h := header(setting(1, 0), setting(2, 0))
		trials := []journal.Trial{trial(setting(1, 0), 0, 50, 0.1), trial(setting(2, 0), 0, 60, 0.1), foreign}
		step := Count(h, trials).Contest(foreign.Setting.Group()).Next()
		for _, a := range step.Settings {
			if key := a.Key(); !slices.ContainsFunc(trials, func(x journal.Trial) bool { return x.Setting.Key() == key }) {
				t.Errorf("%s: it asks for %+v", name, a)
			}
		}
		if len(step.Settings) == 0 {
			t.Errorf("%s: %+v", name, step)
		}
		Count(h, trials).Ends()
	}
}

// What is most often does not depend on the order of a map, nor on there being no name.
func TestMostOften(t *testing.T) {
	for range 50 {
		for want, count := range map[string]map[string]int{"": {"": 2, "a": 1, "b": 1}, "a": {"b": 2, "a": 2, "c": 1}, "c": {"": 1, "c": 2}} {
			if got := MostOften(count); got != want {
				t.Fatalf("%v: %q", count, got)
			}
		}
	}
}

package verdict_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
	"github.com/procfit/procfit/test/chance"
	"github.com/procfit/procfit/test/need"
)

// offered are trials of settings with these capacities a second.
type offered struct {
	quota    float64
	replicas int
	procs    int // 0: unset
	met      bool
	capacity []float64
}

func searched(list []offered) (journal.Header, []journal.Trial) {
	h := journal.Header{TargetHost: journal.Host{CPUs: 4, EffectiveCPUs: 4}}
	h.Plan.SLO, h.Load.RatePerSecond = &slo.Objective{Quantile: 0.99, Seconds: 0.05}, new(300.0)
	h.Target.Kind = journal.KindServer
	var trials []journal.Trial
	for _, o := range list {
		a := journal.Setting{Label: journal.Default, Replicas: max(1, o.replicas)}
		if o.quota > 0 {
			a.QuotaCPUs = &o.quota
		}
		if o.procs > 0 {
			a.Procs, a.Label = &o.procs, "n"
		}
		h.Plan.Settings = append(h.Plan.Settings, a)
		for i, c := range o.capacity {
			trials = append(trials, journal.Trial{
				Setting: a, Role: journal.RoleMeasure, Block: i, Valid: true, ThroughputPerSecond: &c, ThroughputUnit: "requests",
				Attained: &journal.Attainment{Met: o.met, Probes: 7}, ObservedProcs: []*int{new(max(1, o.procs))},
			})
		}
	}
	return h, trials
}

func TestCheapest(t *testing.T) {
	enough, short, near := []float64{400, 410, 405, 395}, []float64{200, 205, 199, 201}, []float64{250, 420, 300, 350}
	for name, tc := range map[string]struct {
		settings []offered
		quota    float64 // of the answer; 0: none
		procs    int
		open     int
	}{
		"the least CPUs":       {[]offered{{2, 1, 0, true, enough}, {0.5, 1, 1, true, enough}, {0.25, 1, 1, true, short}}, 0.5, 1, 0},
		"the default, at once": {[]offered{{1, 1, 0, true, enough}, {1, 1, 1, true, enough}}, 1, 0, 0},
		"the fewest Ps":        {[]offered{{1, 1, 0, true, short}, {1, 1, 2, true, enough}, {1, 1, 1, true, enough}}, 1, 1, 0},
		"one may be cheaper":   {[]offered{{2, 1, 0, true, enough}, {0.5, 1, 1, true, near}}, 2, 0, 1},
		"none":                 {[]offered{{2, 1, 0, true, short}}, 0, 0, 0},
		"too few trials":       {[]offered{{2, 1, 0, true, enough[:2]}}, 0, 0, 1},
		"never met":            {[]offered{{2, 1, 0, false, enough}}, 0, 0, 1},
	} {
		r := verdict.Analyze(searched(tc.settings))
		c := r.Cheapest
		if c == nil || len(c.Settings) != len(tc.settings) || c.Open != tc.open || (c.Answer != nil) != (tc.quota > 0) || c.Today == nil {
			t.Fatalf("%s: %+v", name, c)
		}
		if a := c.Answer; a != nil && (*a.QuotaCPUs != tc.quota || (a.Procs == nil) != (tc.procs == 0) || a.Procs != nil && *a.Procs != tc.procs) {
			t.Errorf("%s: the answer is %+v", name, a)
		}
	}
	h, trials := searched([]offered{{0, 1, 0, true, enough}})
	if c := verdict.Analyze(h, trials).Cheapest; c.Answer == nil || c.Answer.CPUs != 4 || c.Answer.TotalCPUs != 4 {
		t.Errorf("without a CPU limit: %+v", c)
	}
	// Two replicas without a limit share the same CPUs, and cost no more.
	h, trials = searched([]offered{{0, 2, 0, true, enough}, {0, 1, 0, true, enough}})
	for i := range trials {
		trials[i].Origin = journal.OriginLocal
	}
	if c := verdict.Analyze(h, trials).Cheapest; c.Answer == nil || c.Answer.Replicas != 1 || c.Settings[1].Replicas != 2 || c.Settings[1].TotalCPUs != 4 {
		t.Errorf("replicas without a CPU limit: %+v", c)
	}
	h.Load.RatePerSecond = nil
	if c := verdict.Analyze(h, trials).Cheapest; c != nil {
		t.Errorf("without a rate: %+v", c)
	}
}

// A setting that used more memory than it may is no answer. Of one whose CPUs other programs
// used, or whose load was held up on its way or at its generator, nobody knows that it does not carry the rate.
func TestCheapestOfThoseThatCount(t *testing.T) {
	enough, short := []float64{400, 410, 405, 395}, []float64{200, 205, 199, 201}
	h, trials := searched([]offered{{2, 1, 0, true, enough}, {0.5, 1, 1, true, enough}})
	h.Plan.MaxMemoryBytes = 100
	for i := range trials {
		if trials[i].Memory = (&journal.Memory{PeakRSSBytes: 50}); trials[i].Setting.Procs != nil {
			trials[i].Memory.PeakRSSBytes = 200
		}
	}
	if c := verdict.Analyze(h, trials).Cheapest; c.Answer == nil || *c.Answer.QuotaCPUs != 2 || len(c.Settings) != 1 || c.Open != 0 {
		t.Errorf("too much memory: %+v", c)
	}
	tunnel := func(h *journal.Header, _ *journal.Trial) { h.Load.Arrangement = new(journal.ArrangementTunnel) }
	for name, c := range map[string]struct {
		capacity []float64
		change   func(*journal.Header, *journal.Trial)
		carries  verdict.Carries
	}{
		"next to busy programs": {short, func(_ *journal.Header, t *journal.Trial) {
			t.Usage = journal.Usage{MeasuredSeconds: 1, CPUSeconds: &journal.CPUSeconds{User: 1}, HostUse: &journal.HostUse{TargetCPUs: 4, OtherCPUSeconds: new(3.8)}}
		}, verdict.CarriesMaybe},
		"at the limit of the load generator": {short, func(_ *journal.Header, t *journal.Trial) { t.Load = &journal.LoadCost{ThreadBusiestRatio: new(0.95)} }, verdict.CarriesMaybe},
		"through the API server":             {short, tunnel, verdict.CarriesMaybe},
		"enough, through the API server":     {enough, tunnel, verdict.CarriesLikely},
	} {
		h, trials := searched([]offered{{2, 1, 0, true, c.capacity}})
		for i := range trials {
			c.change(&h, &trials[i])
		}
		got, likely := verdict.Analyze(h, trials).Cheapest, c.carries == verdict.CarriesLikely
		if (got.Open == 0) != likely || (got.Answer != nil) != likely || got.Settings[0].Carries != c.carries || got.Today.Carries != c.carries {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if c := verdict.Analyze(h, nil).Cheapest; c == nil || c.Settings == nil {
		t.Errorf("without a valid trial: %+v, want an empty list of settings", c)
	}
}

// A setting is the answer only if a valid trial was seen to run at its value. If the user said
// that it cannot be seen, the answer is likely.
func TestCheapestThatWasSeen(t *testing.T) {
	enough := []float64{400, 410, 405, 395}
	for name, tc := range map[string]struct {
		read, any bool
		quota     float64         // of the answer
		carries   verdict.Carries // what the setting at half a CPU does
		open      int
	}{
		"read":           {true, false, 0.5, verdict.CarriesIt, 0},
		"not read":       {false, false, 2, verdict.CarriesMaybe, 1},
		"cannot be read": {false, true, 0.5, verdict.CarriesLikely, 0},
		"read anyway":    {true, true, 0.5, verdict.CarriesIt, 0},
	} {
		h, trials := searched([]offered{{2, 1, 0, true, enough}, {0.5, 1, 1, true, enough}})
		h.Target.AnyProgram = tc.any
		for i := range trials {
			if trials[i].Setting.Procs != nil && (!tc.read || i%2 == 0) {
				trials[i].ObservedProcs = []*int{nil}
			}
		}
		c := verdict.Analyze(h, trials).Cheapest
		if c.Answer == nil || *c.Answer.QuotaCPUs != tc.quota || c.Open != tc.open {
			t.Fatalf("%s: %+v", name, c)
		}
		if half := c.Settings[0]; half.Carries != tc.carries || half.Unseen == tc.read {
			t.Errorf("%s: %+v", name, half)
		}
	}
}

// Among many settings that carry a little less than the rate, it is rarely said of any
// that it carries it.
func TestCheapestIsProven(t *testing.T) {
	wrong := 0
	runs, most := 400, 32 // 5% are promised
	if !need.Required() {
		runs = chance.Runs(runs)
		most = chance.Most(runs, 0.05)
	}
	for seed := range runs {
		noise := rand.New(rand.NewPCG(uint64(seed), 7)).NormFloat64
		var list []offered
		for i := range 8 {
			o := offered{quota: 0.25 * float64(i+1), procs: 1, met: true}
			for range 5 {
				o.capacity = append(o.capacity, 299.99*math.Exp(0.1*noise()))
			}
			list = append(list, o)
		}
		if verdict.Analyze(searched(list)).Cheapest.Answer != nil {
			wrong++
		}
	}
	if wrong > most {
		t.Errorf("said so in %d of %d runs, 5%% are promised", wrong, runs)
	}
}

// Values whose comparison is proven do not settle a race that asks for the cheapest setting, as
// long as that is open.
func TestSettledWithTheCheapest(t *testing.T) {
	for name, tc := range map[string]struct {
		rate float64
		any  bool // of --any-program, with values that cannot be read
		want bool
	}{
		"it is known":       {300, false, true},
		"it is open":        {403, false, false},
		"none is enough":    {900, false, false},
		"it is only likely": {300, true, false},
	} {
		h, trials := searched([]offered{{0, 1, 1, true, []float64{200, 205, 199, 201}}, {0, 1, 2, true, []float64{400, 410, 405, 395}}})
		h.Plan.Strategy, h.Plan.Margin, h.Plan.MarginP99, h.Load.RatePerSecond = journal.StrategyRace, 0.05, 0.2, &tc.rate
		h.Target.AnyProgram = tc.any
		for i := range trials {
			trials[i].Usage = journal.Usage{MeasuredSeconds: 1, HostUse: &journal.HostUse{TargetCPUs: 4, OtherCPUSeconds: new(0.0)}}
			if tc.any {
				trials[i].ObservedProcs = []*int{nil}
			}
		}
		r := verdict.Analyze(h, trials)
		if proven := r.Groups[0].Recommendation.Confidence == verdict.Proven; proven == tc.any || r.Settled() != tc.want {
			t.Errorf("%s: settled %v, want %v; %+v, %+v", name, r.Settled(), tc.want, r.Cheapest, r.Groups[0].Recommendation)
		}
	}
}

// Within an objective each trial tries rates of its own, and none is that of all.
func TestNoCommonRateWithinAnObjective(t *testing.T) {
	h, trials := searched([]offered{{0, 1, 1, true, []float64{200, 205, 199}}})
	for i := range trials {
		trials[i].Phases = []journal.Phase{{Mode: journal.ModeClosed}, {Mode: journal.ModeOpen, RatePerSecond: new(140.0)}}
	}
	if r := verdict.Analyze(h, trials); r.Groups[0].RatePerSecond != nil {
		t.Errorf("within an objective: %g", *r.Groups[0].RatePerSecond)
	}
	h.Plan.SLO = nil
	if r := verdict.Analyze(h, trials); r.Groups[0].RatePerSecond == nil {
		t.Error("without an objective there is none")
	}
}

// A value that met the objective at no rate carries less than its number says: it is neither
// recommended nor as good by that, and without any other there is no verdict.
func TestUnmet(t *testing.T) {
	low, same, high := []float64{100, 102, 99, 101}, []float64{400, 402, 399, 401}, []float64{800, 802, 799, 803}
	for name, tc := range map[string]struct {
		one, two []float64 // of the default, which is 1, and of 2
		missed   [2]int    // their trials
		verdict  verdict.Verdict
		sure     verdict.Confidence
		cause    verdict.Code
		of       int
		next     verdict.StepCode
	}{
		"no value":                 {same, low, [2]int{4, 4}, verdict.Undecided, "", "objective", 0, verdict.StepObjective},
		"the default":              {low, same, [2]int{4, 0}, verdict.Recommended, verdict.Proven, "", 2, ""},
		"the default, the same":    {same, same, [2]int{4, 0}, verdict.Undecided, "", "undecided_default", 2, verdict.StepObjective},
		"another, far below":       {same, low, [2]int{0, 4}, verdict.KeepDefault, verdict.Proven, "", 1, ""},
		"another, the same":        {same, same, [2]int{0, 4}, verdict.KeepDefault, verdict.Proven, "", 1, ""},
		"another, which may be":    {same, high, [2]int{0, 4}, verdict.Undecided, "", "undecided_throughput", 0, verdict.StepObjective},
		"half of another's trials": {same, high, [2]int{0, 2}, verdict.Undecided, "", "undecided_throughput", 0, verdict.StepObjective},
		"one trial":                {same, high, [2]int{0, 1}, verdict.Recommended, verdict.Proven, "", 2, ""},
		"none":                     {same, same, [2]int{0, 0}, verdict.NoDifference, verdict.Proven, "", 0, ""},
	} {
		h, trials := searched([]offered{{0, 1, 0, true, tc.one}, {0, 1, 2, true, tc.two}})
		h.Load.RatePerSecond, h.Plan.Margin, h.Plan.MarginP99 = nil, 0.05, 0.2
		for i := range trials {
			t := &trials[i]
			t.Usage = journal.Usage{MeasuredSeconds: 1, HostUse: &journal.HostUse{TargetCPUs: 4, OtherCPUSeconds: new(0.0)}}
			t.Attained.Met = t.Block >= tc.missed[i/4]
		}
		g := verdict.Analyze(h, trials).Groups[0]
		rec := g.Recommendation
		if rec.Verdict != tc.verdict || rec.Confidence != tc.sure || rec.Of().Procs != tc.of || tc.cause != "" && rec.Claim.Code() != tc.cause {
			t.Errorf("%s: %+v, claim %#v", name, rec, rec.Claim)
		}
		if tc.next != "" && (len(rec.Next) != 1 || rec.Next[0].Code != tc.next) {
			t.Errorf("%s: next %+v", name, rec.Next)
		}
		for i, a := range g.Rows {
			if unmet := 2*tc.missed[i] >= 4; a.Missed != tc.missed[i] || a.Unmet != unmet || unmet && (a.Excluded == nil || a.VersusPeak.Median != nil || a.Speedup != nil) {
				t.Errorf("%s: row %+v", name, a)
			}
		}
	}
}

// What is pooled with a setting that met the objective does not make its own trials miss it.
func TestUnmetOfPooledSettings(t *testing.T) {
	same := []float64{400, 402, 399, 401}
	h, trials := searched([]offered{{0, 1, 0, true, same}, {0, 1, 1, false, same}, {0, 1, 2, true, same}})
	g := verdict.Analyze(h, trials).Groups[0]
	for i, missed := range []int{0, 4, 0} {
		if a := g.Settings[i]; a.Missed != missed || a.Unmet != (missed > 0) {
			t.Errorf("setting %s: %d of %d missed, unmet %v", a.Label, a.Missed, a.Trials, a.Unmet)
		}
	}
	if a := g.Rows[0]; a.Missed != 4 || a.Trials != 8 || !a.Unmet {
		t.Errorf("together: %d of %d missed, unmet %v", a.Missed, a.Trials, a.Unmet)
	}
}

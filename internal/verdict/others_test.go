package verdict_test

import (
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
	"github.com/procfit/procfit/test/chance"
)

func TestAStarvedMachineIsNamed(t *testing.T) {
	two := func() []Truth {
		return []Truth{Unset(2, 1000, .01), Set(1, 500, .02), Set(2, 1000, .01), Set(4, 980, .01)}
	}
	starved := []string{"default", "2", "4"}
	for _, c := range []struct {
		name       string
		config     Config
		shared     bool
		kind       string
		tooFewCPUs []string
		verdict    verdict.Verdict
		warns      bool
	}{
		{"nothing else runs", Config{CPUs: 2, Settings: two()}, false, "cpu-bound", nil, verdict.KeepDefault, false},
		{"a few per cent, as on every machine", Config{CPUs: 2, Settings: two(), OtherCPUs: 0.15}, true, "cpu-bound", nil, verdict.KeepDefault, false},
		{"the load alone fills the machine", Config{CPUs: 2, Settings: two(), Trial: func(t *journal.Trial) { t.Load.CPUSeconds = 1.5 * t.MeasuredSeconds }}, true, "cpu-bound", nil, verdict.KeepDefault, false},
		{"others take 1.6 of 2 CPUs", Config{CPUs: 2, Settings: two(), OtherCPUs: 1.6}, true, "unknown", []string{"default", "1", "2", "4"}, verdict.Undecided, true},
		{"others take half a CPU", Config{CPUs: 2, Settings: two(), OtherCPUs: 0.5}, false, "unknown", starved, verdict.Undecided, true},
		{"the quota leaves room for them", Config{CPUs: 8, Settings: Quota(2, two()...), OtherCPUs: 4}, false, "cpu-bound", nil, verdict.KeepDefault, true},
		{"the target waits for other things, on CPUs that idle", Config{CPUs: 2, Settings: idle(two()), OtherCPUs: 0.5}, false, "io-bound", nil, verdict.KeepDefault, true},
		{"larger values have too few, the default has enough", Config{CPUs: 8, OtherCPUs: 4,
			Settings: []Truth{Unset(4, 1000, .01), Set(1, 300, .03), Set(2, 600, .02), Set(4, 1000, .01), Set(8, 1000, .01)}}, false, "cpu-bound", []string{"8"}, verdict.KeepDefault, true},
	} {
		c.config.Noise, c.config.Rate = quiet, 100
		h, trials := Generate(c.config)
		if c.shared {
			h.Load.Arrangement = new(journal.ArrangementShared)
		}
		r := verdict.Analyze(h, trials)
		g := r.Groups[0]
		if g.Workload.Kind != c.kind || !slices.Equal(g.Others.TooFewCPUs, c.tooFewCPUs) || g.Recommendation.Verdict != c.verdict || has[verdict.OthersBusy](r) != c.warns {
			t.Errorf("%s: %s, too few CPUs %v, %s, %v; want %s, %v, %s, warned %v", c.name, g.Workload.Kind, g.Others.TooFewCPUs, g.Recommendation.Verdict, codes(r), c.kind, c.tooFewCPUs, c.verdict, c.warns)
		}
		if len(c.tooFewCPUs) > 0 && !speaksOf(&g.Recommendation, "too_few_cpus") {
			t.Errorf("%s: nothing says what is not compared: %+v", c.name, g.Recommendation)
		}
	}
}

// A machine that was busy for a while is named, one that always is is not said to have
// been so for a while.
func TestOthersForAWhile(t *testing.T) {
	for _, c := range []struct {
		usual, then float64 // CPUs of two, in all blocks and in the third and fourth
		bursts      int
	}{
		{0.02, 0.04, 0}, {0.02, 0.45, 0}, {0.02, 1.5, 10}, {0.6, 1.5, 0},
	} {
		h, trials := Generate(Config{CPUs: 2, Noise: quiet, Rate: 100, OtherCPUs: c.usual,
			Settings: []Truth{Unset(2, 1000, .01), Set(1, 500, .02), Set(2, 1000, .01), Set(4, 980, .01)},
			Trial: func(tr *journal.Trial) {
				if tr.HostUse != nil && (tr.Block == 2 || tr.Block == 3) {
					tr.HostUse.OtherCPUSeconds = new(c.then * tr.MeasuredSeconds)
				}
			}})
		g := verdict.Analyze(h, trials).Groups[0]
		if o := g.Others; o.Bursts != c.bursts || (c.bursts > 0) != speaksOf(&g.Recommendation, "bursts") ||
			c.bursts > 0 && (o.BurstMost != c.then/2 || o.Trials != len(trials)) {
			t.Errorf("%g CPUs, then %g: %+v of %d trials, %+v", c.usual, c.then, o, len(trials), g.Recommendation.Reasons)
		}
	}
}

// A machine that was busy for a while, and halved what ran then, changes no verdict; its
// trials are counted out.
func TestOthersForAWhileDecideNothing(t *testing.T) {
	config := Config{CPUs: 2, Noise: quiet, Rate: 100, OtherCPUs: 0.02, Blocks: 10,
		Settings: []Truth{Unset(2, 1000, .01), Set(1, 500, .02), Set(2, 1000, .01), Set(4, 980, .01)},
		Trial: func(tr *journal.Trial) {
			if tr.HostUse != nil && (tr.Block == 2 || tr.Block == 3 && tr.Order < 3) {
				tr.HostUse.OtherCPUSeconds = new(1.5 * tr.MeasuredSeconds)
				*tr.ThroughputPerSecond /= 4
				*tr.LatencySeconds.P99 *= 30
			}
		}}
	h, trials := Generate(config)
	r := verdict.Analyze(h, trials)
	g := r.Groups[0]
	if o := g.Others; o.Bursts == 0 || o.LeftOut != o.Bursts || r.TrialsInvalid != o.Bursts || has[verdict.InvalidTrials](r) {
		t.Errorf("%+v, %d invalid, %v", o, r.TrialsInvalid, codes(r))
	}
	config.Trial = nil
	calm := verdict.Analyze(Generate(config)).Groups[0].Recommendation
	if got := g.Recommendation; got.Verdict != calm.Verdict || got.Confidence != calm.Confidence || got.Verdict != verdict.KeepDefault {
		t.Errorf("%s %s, and %s %s where nothing else ran", got.Verdict, got.Confidence, calm.Verdict, calm.Confidence)
	}
}

// Other programs that ran during one value's trials alone do not show in the median of
// all: the value is named.
func TestOthersInOneSettingsTrials(t *testing.T) {
	h, trials := Generate(Config{CPUs: 2, Noise: quiet, Rate: 100, OtherCPUs: 0.01,
		Settings: []Truth{Unset(2, 1000, .01), Set(1, 500, .02), Set(2, 1000, .01), Set(4, 980, .01)},
		Trial: func(tr *journal.Trial) {
			if tr.Setting.Label == "4" && tr.HostUse != nil {
				tr.HostUse.OtherCPUSeconds = new(1.2 * tr.MeasuredSeconds)
			}
		}})
	o := verdict.Analyze(h, trials).Groups[0].Others
	if o.MostSetting != "4" || o.MostCPUs == nil || *o.MostCPUs < 1.1 || o.CPUs == nil || *o.CPUs > 0.1 || !o.Matter {
		t.Errorf("%+v with a median of %v: want up to 1.2 CPUs at 4", o, o.CPUs)
	}
}

func idle(settings []Truth) []Truth {
	for i := range settings {
		settings[i].CPU = 0.1
	}
	return settings
}

// Where others were not counted, a machine that was busy with something else still
// makes no program I/O-bound.
func TestABusyMachineMakesNoProgramWait(t *testing.T) {
	for _, c := range []struct {
		busy float64
		kind string
	}{{1, "unknown"}, {0.5, "io-bound"}, {0.2, "io-bound"}} {
		r := analyze(Config{CPUs: 2, Noise: quiet, Settings: idle([]Truth{Unset(2, 1000, .01), Set(1, 500, .02)}), Trial: func(t *journal.Trial) {
			t.HostUse.OtherCPUSeconds, t.HostUse.BusyRatio = nil, c.busy
		}})
		if w := r.Groups[0].Workload; w.Kind != c.kind || w.TooFewCPUs != (c.kind == "unknown") {
			t.Errorf("a machine busy by %g: %+v, want %s", c.busy, w, c.kind)
		}
	}
}

// What other programs take, they take from old and new equally: the two are compared
// all the same.
func TestAStarvedGateIsJudged(t *testing.T) {
	c := versus(1, 1, quiet)
	c.CPUs, c.OtherCPUs = 4, 2
	if g := analyze(c).Gate; !g.Pass {
		t.Errorf("%+v", g)
	}
}

// One of many trials that got no answer while other programs had the CPUs says nothing of
// the new program; the same with the CPUs to itself does, and so do many.
func TestOneStarvedTrialOfAGate(t *testing.T) {
	for name, tc := range map[string]struct {
		others float64
		blocks int // in which it did not answer
		judged bool
	}{
		"with the CPUs":    {0, 1, false},
		"without":          {2, 1, true},
		"without, in many": {2, 12, false},
	} {
		c := versus(1, 1, quiet)
		c.Blocks, c.CPUs, c.OtherCPUs = 20, 4, tc.others
		c.Trial = func(t *journal.Trial) {
			if t.Setting.Variant == "" && t.Block < tc.blocks {
				t.Valid, t.InvalidReason, t.InvalidCode = false, "stopped answering", journal.InvalidNoAnswer
			}
		}
		if g := analyze(c).Gate; g.Pass != tc.judged || (len(g.Unjudged) == 0) != tc.judged {
			t.Errorf("%s: passed %v, %+v", name, g.Pass, g.Unjudged)
		}
	}
}

// A baseline that is starved is not judged, and says so; it is no run without a setting
// in common.
func TestAStarvedBaselineIsNotJudged(t *testing.T) {
	r := analyze(Config{CPUs: 4, OtherCPUs: 2, Noise: quiet, Settings: CPUServer()})
	g, err := verdict.GateBaseline(r, r)
	if err != nil || g.Pass || len(g.Unjudged) == 0 || g.Unjudged[0].Code != verdict.UnjudgedTooFewCPUs {
		t.Errorf("%v, %+v", err, g)
	}
}

// A rate that no value is compared at, since all of them were starved, is not one
// that gave no throughput. Nor is it one that no value carries, since a starved one may.
func TestAStarvedRateSaysSo(t *testing.T) {
	one := analyze(Config{CPUs: 8, OtherCPUs: 5, Noise: quiet, Rate: 4000, SmallFor: true, NoAA: true, Settings: []Truth{Set(1, 1000, .02), Set(2, 2000, .02), Set(8, 3000, .005)}})
	if x, _ := one.Recommendation.Claim.(verdict.CauseTooFewCPUs); len(x.List) != 1 || x.List[0].Procs != 8 {
		t.Errorf("%+v", one.Recommendation.Claim)
	}
	r := analyze(Config{CPUs: 2, OtherCPUs: 1.3, Noise: quiet, Rate: 500, SmallFor: true, Settings: []Truth{Unset(2, 1000, .01), Set(1, 900, .02)}})
	got := r.Groups[0].Recommendation
	if x, _ := got.Claim.(verdict.CauseTooFewCPUs); got.Verdict != verdict.Undecided || len(x.List) != 2 {
		t.Errorf("%s: %+v", got.Verdict, got.Claim)
	}
}

// Machines with a few per cent of others end in the verdicts that they had without.
func TestOthersOfEveryMachineWithholdNothing(t *testing.T) {
	n := chance.Sweeps(12)
	for seed := range n {
		quietly := Config{Seed: uint64(seed), CPUs: 8, Settings: CPUServer()}
		beside := quietly
		beside.Trial = func(t *journal.Trial) {
			t.HostUse.OtherCPUSeconds = new(t.MeasuredSeconds * 8 * (0.01 + 0.01*float64((t.Block+t.Order)%7)))
		}
		a, b := analyze(quietly), analyze(beside)
		if a.Recommendation.Verdict != b.Recommendation.Verdict || has[verdict.OthersBusy](b) {
			t.Errorf("seed %d: %s and %s", seed, a.Recommendation.Verdict, b.Recommendation.Verdict)
		}
	}
}

func TestStolenTrialsAreCounted(t *testing.T) {
	for stolen, want := range map[int]bool{0: false, 2: false, 3: true} {
		h, trials := Generate(Config{CPUs: 2, Noise: quiet, Rate: 100, Settings: []Truth{Unset(2, 1000, .01), Set(1, 500, .02), Set(2, 1000, .01)}})
		for i := range 4 {
			trials[i].Valid, trials[i].InvalidCode, trials[i].InvalidReason = false, journal.InvalidErrors, "too many failed"
			if i < stolen {
				trials[i].InvalidCode, trials[i].InvalidReason = journal.InvalidStolen, "taken"
			}
		}
		if w, _ := warned[verdict.InvalidTrials](verdict.Analyze(h, trials)); w.Stolen != want || w.Count != 4 {
			t.Errorf("%d of 4: %+v", stolen, w)
		}
	}
}

// Where the program runs at one value whatever it is asked for, that is why nothing can be
// told: a quieter machine would change nothing of it.
func TestAnOverrideIsNoBusyMachine(t *testing.T) {
	r := analyze(Config{CPUs: 2, OtherCPUs: 1.8, Settings: []Truth{Set(1, 500, .01), Set(2, 1000, .01)}, Trial: func(t *journal.Trial) {
		if t.Setting.Label == "2" {
			t.ObservedProcs, t.Valid, t.InvalidCode = []*int{new(1)}, false, journal.InvalidProcs
		}
	}})
	got := r.Groups[0].Recommendation
	if len(r.Groups[0].Others.TooFewCPUs) == 0 {
		t.Fatalf("nothing had too few CPUs: %+v", r.Groups[0].Others)
	}
	if got.Claim.Code() != "overridden" || len(got.Next) != 1 || got.Next[0].Code != verdict.StepFindDerived {
		t.Errorf("%+v, decided by %+v", got.Claim, got.Next)
	}
}

// paced has the speed of the machine, 1 being the usual one, measured around each block of five trials.
func paced(tr *journal.Trial, speed float64) {
	if tr.Block+tr.Order == 0 {
		tr.SpeedBefore = new(1000.0)
	}
	if tr.Order == 4 {
		tr.SpeedAfter = new(1000 * speed)
	}
}

// A machine that was slower for a while is not to blame for what other programs took.
func TestSlowIsNotStarved(t *testing.T) {
	h, trials := Generate(Config{CPUs: 2, Noise: quiet, Rate: 100, Blocks: 12, OtherCPUs: 1.6,
		Settings: []Truth{Unset(2, 1000, .01), Set(1, 500, .02), Set(2, 1000, .01), Set(4, 980, .01)},
		Trial: func(tr *journal.Trial) {
			paced(tr, map[bool]float64{true: 0.5, false: 1}[tr.Block%4 == 1])
		}})
	g := verdict.Analyze(h, trials).Groups[0]
	if o := g.Others; 4*o.Slow < o.Trials || g.Recommendation.Claim.Code() != "too_few_cpus" {
		t.Errorf("%d of %d trials were slow: %q, want %q", o.Slow, o.Trials, g.Recommendation.Claim.Code(), "too_few_cpus")
	}
}

// Trials of a machine that was slower for a while are counted out, and change no verdict;
// where they are many and nothing can be told, they are why.
func TestASlowMachine(t *testing.T) {
	for name, c := range map[string]struct {
		slow    func(block int) bool
		trials  int
		verdict verdict.Verdict
		cause   verdict.Code
	}{
		"steady":          {func(int) bool { return false }, 0, verdict.KeepDefault, ""},
		"one block":       {func(block int) bool { return block == 4 }, 5, verdict.KeepDefault, ""}, // the one after it is as fast as the others
		"it never rests":  {func(block int) bool { return block%2 == 0 }, 60, verdict.Undecided, "slow_machine"},
		"half of the run": {func(block int) bool { return block >= 5 }, 0, verdict.KeepDefault, ""}, // each block is as fast as half of them
	} {
		h, trials := Generate(Config{CPUs: 2, Noise: quiet, Rate: 100, Blocks: 12,
			Settings: []Truth{Unset(2, 1000, .01), Set(1, 500, .02), Set(2, 1000, .01), Set(4, 980, .01)},
			Trial: func(tr *journal.Trial) {
				speed := 1.0
				if c.slow(tr.Block) {
					speed = 0.5
				}
				*tr.ThroughputPerSecond *= speed
				paced(tr, speed)
			}})
		r := verdict.Analyze(h, trials)
		g := r.Groups[0]
		rec := g.Recommendation
		if g.Others.Slow != c.trials || rec.Verdict != c.verdict || c.cause != "" && rec.Claim.Code() != c.cause || has[verdict.InvalidTrials](r) {
			t.Errorf("%s: %d of %d trials, %s for %q, %v; want %d, %s, %q", name, g.Others.Slow, g.Others.Trials, rec.Verdict, rec.Claim.Code(), codes(r), c.trials, c.verdict, c.cause)
		}
		if c.trials > 0 && c.cause == "" && !speaksOf(&rec, "slow_machine") {
			t.Errorf("%s: nothing says what is not compared: %+v", name, rec.Reasons)
		}
	}
}

// TestCrowdedDefaultIsInOrder: a default that other programs left too few CPUs is at its number.
func TestCrowdedDefaultIsInOrder(t *testing.T) {
	r := verdict.Analyze(Generate(Config{CPUs: 2, OtherCPUs: 1.5, Blocks: 6, Settings: []Truth{Unset(2, 1000, .01), Set(1, 600, .02), Set(3, 1000, .01)}}))
	var labels []string
	for _, row := range r.Groups[0].Rows {
		labels = append(labels, row.Label)
		if row.Label != "1" && !row.TooFewCPUs {
			t.Errorf("%s: other programs left it CPUs enough", row.Label)
		}
	}
	if !slices.Equal(labels, []string{"1", journal.Default, "3"}) {
		t.Errorf("rows %q", labels)
	}
}

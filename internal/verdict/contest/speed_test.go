package contest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// What decides is the slower end of a block, next to the run's median and to its other end.
func TestSlowed(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after []float64 // of each trial; 0: not measured there
		want          []float64
	}{
		"never measured":          {[]float64{0, 0}, []float64{0, 0}, []float64{0, 0}},
		"steady":                  {[]float64{100, 0, 0}, []float64{0, 104, 98}, []float64{0.04, 0.04, 0.06}},
		"slow for one block":      {[]float64{100, 0, 0, 0, 0}, []float64{100, 50, 100, 100, 100}, []float64{0, 0.5, 0.5, 0, 0}},
		"slower from there on":    {[]float64{100, 0, 0, 0}, []float64{100, 50, 50, 50}, []float64{0, 0.5, 0, 0}},
		"faster from there on":    {[]float64{50, 0, 0, 0}, []float64{50, 100, 100, 100}, []float64{0.5, 0.5, 0, 0}},
		"blocks of two":           {[]float64{100, 0, 0, 0, 0, 0}, []float64{0, 100, 0, 60, 0, 100}, []float64{0, 0, 0.4, 0.4, 0.4, 0.4}},
		"infinite, as anyone may": {[]float64{math.Inf(1), 100}, []float64{100, math.NaN()}, []float64{0, 0}},
	} {
		trials := make([]journal.Trial, len(tc.before))
		for i := range trials {
			if trials[i] = trial(setting(i+1, 0), i, 1, 1); tc.before[i] != 0 {
				trials[i].SpeedBefore = &tc.before[i]
			}
			if tc.after[i] != 0 {
				trials[i].SpeedAfter = &tc.after[i]
			}
		}
		for i, got := range Slowed(trials) {
			if math.Abs(got-tc.want[i]) > 0.03 {
				t.Errorf("%s: trial %d is slowed by %.2f, want %.2f", name, i, got, tc.want[i])
			}
		}
	}
}

// What ran on a slow machine is neither compared nor a failure of its setting, in a sweep and
// in a gate.
func TestWithoutSlow(t *testing.T) {
	a, b := setting(1, 0), setting(2, 0)
	var trials []journal.Trial
	for block := range 6 {
		speed := 100.0
		if block == 3 {
			speed = 50
		}
		one, two := trial(a, block, 100, 0.1), trial(b, block, 100, 0.1)
		if block == 3 || block == 4 {
			one, two = trial(a, block, 70, 0.1), trial(b, block, 70, 0.1)
		}
		if two.SpeedAfter = &speed; block == 0 {
			one.SpeedBefore = new(100.0)
		}
		trials = append(trials, one, two)
	}
	counted := Count(header(a, b), trials).Trials
	for i, tr := range counted {
		out := trials[i].Block == 3 || trials[i].Block == 4
		if out == tr.Valid || out != (tr.InvalidCode == journal.InvalidSlow) || !trials[i].Valid {
			t.Errorf("block %d: valid %v, %q", tr.Block, tr.Valid, tr.InvalidCode)
		}
	}
	c := Count(header(a, b), trials).Contest(a.Group())
	if n := c.Level(2).Trials; n != 4 || len(c.own) != 8 {
		t.Errorf("%d trials of 2 are compared and %d of both take part, want 4 and 8", n, len(c.own))
	}
	old := b
	old.Procs, old.Variant = a.Procs, journal.VariantAgainst
	gate := header(a, old)
	gate.Plan.GateAgainst = true
	for i := range trials {
		if trials[i].Setting.Key() == b.Key() {
			trials[i].Setting = old
		}
	}
	kept := Count(gate, trials).Trials
	if slices.ContainsFunc(kept, func(t journal.Trial) bool { return !t.Valid }) {
		t.Error("a gate, which compares in pairs, leaves out a trial on a slow machine")
	}
}

// A machine that others share changes its speed by the memory alone: a program that stays in
// its caches has the same throughput, and its trials count. What ran slower, what has no other
// trial to compare with, and what has the rate of its load do not.
func TestUnslowed(t *testing.T) {
	for name, tc := range map[string]struct {
		one, two float64 // throughput in the block on the slow machine, of 100 and 200 elsewhere
		rate     float64 // of the load
		alone    bool    // the settings ran nowhere else
		counts   bool
	}{
		"the program has its usual speed": {one: 97, two: 204, counts: true},
		"one setting is slower":           {one: 80, two: 200},
		"both are slower":                 {one: 70, two: 140},
		"both are faster":                 {one: 130, two: 260},
		"nothing to compare with":         {one: 100, two: 200, alone: true},
		"the load has one rate":           {one: 100, two: 200, rate: 100},
	} {
		a, b := setting(1, 0), setting(2, 0)
		var trials []journal.Trial
		for block := range 6 {
			one, two := trial(a, block, 100, 0.1), trial(b, block, 200, 0.1)
			two.SpeedAfter = new(100.0)
			if block == 0 {
				one.SpeedBefore = new(100.0)
			}
			if block == 5 {
				one, two = trial(a, block, tc.one, 0.1), trial(b, block, tc.two, 0.1)
				two.SpeedAfter = new(60.0)
			}
			if tc.alone && block < 5 {
				one.Setting, two.Setting = setting(3, 0), setting(4, 0)
			}
			for _, x := range []*journal.Trial{&one, &two} {
				if tc.rate > 0 {
					x.ThroughputPerSecond, x.ThroughputUnit = &tc.rate, "requests"
					x.Phases = []journal.Phase{{Mode: journal.ModeOpen, RatePerSecond: &tc.rate}}
				}
			}
			trials = append(trials, one, two)
		}
		slowed := Slowed(trials)
		if counts := slowed[10] == 0 && slowed[11] == 0; counts != tc.counts {
			t.Errorf("%s: slowed by %.2f and %.2f", name, slowed[10], slowed[11])
		}
		if slowed[8] != 0 {
			t.Errorf("%s: the block before is slowed by %.2f", name, slowed[8])
		}
	}
}

// Where the speed of the memory alone changes from block to block, and the program has the same
// throughput at each, all its trials count, however noisy they are. Where it follows the speed,
// where nothing tells, and where it is too noisy to tell, those on the slow machine do not.
func TestFollows(t *testing.T) {
	for name, tc := range map[string]struct {
		slope, noise float64
		blocks       int
		counts       bool
	}{
		"it does not follow":          {0, 0.06, 8, true},
		"it follows":                  {1, 0.06, 8, false},
		"it follows by half":          {0.5, 0.06, 8, false},
		"too noisy to tell":           {0, 0.6, 8, false},
		"two blocks":                  {0, 0.06, 2, false},
		"it does not, without noise":  {0, 0, 8, true},
		"it goes the other way round": {-0.5, 0.06, 8, false},
	} {
		var trials []journal.Trial
		random := rand.New(rand.NewPCG(1, 2))
		low := 100.0
		for block := range tc.blocks {
			next := 100 * math.Exp(0.5*random.NormFloat64())
			for procs := 1; procs <= 3; procs++ {
				x := trial(setting(procs, 0), block, 100*float64(procs)*math.Exp(tc.noise*random.NormFloat64()+tc.slope*math.Log(min(low, next)/100)), 0.1)
				if block == 0 && procs == 1 {
					x.SpeedBefore = new(low)
				}
				if procs == 3 {
					x.SpeedAfter = &next
				}
				trials = append(trials, x)
			}
			low = next
		}
		if slowest := slices.Max(Slowed(trials)); (slowest <= SlowFrom) != tc.counts {
			t.Errorf("%s: slowed by %.2f", name, slowest)
		}
	}
}

package race_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict/contest/race"
)

// end is how a race ended, and with which lead.
type end struct {
	race.Step
	Lead race.Lead
}

// play runs a race whose trials are drawn by the function, and returns all that ran
// with what is at the end.
func play(t *testing.T, rules race.Rules, trial func(c race.Choice) race.Trial) ([]race.Trial, end, []race.Why) {
	t.Helper()
	var trials []race.Trial
	var why []race.Why
	for block := 0; ; block++ {
		state := race.New(rules, trials)
		step := state.Next()
		if step.Stop != "" {
			return trials, end{step, state.Lead()}, why
		}
		if len(step.Block) == 0 || block > 500 {
			t.Fatalf("block %d: no trials and no end: %+v", block, step)
		}
		why = append(why, step.Why)
		for _, c := range step.Block {
			x := trial(c)
			x.Value, x.Unset, x.Block = c.Value, c.Unset, block
			trials = append(trials, x)
		}
	}
}

// steady draws trials about a throughput and a p99 that depend on the value.
func steady(seed uint64, of func(n float64) (throughput, p99 float64)) func(race.Choice) race.Trial {
	r := rand.New(rand.NewPCG(seed, 3))
	return func(c race.Choice) race.Trial {
		t, p := of(float64(c.Value))
		return race.Trial{Throughput: t * math.Exp(0.02*r.NormFloat64()), P99: p * math.Exp(0.15*r.NormFloat64())}
	}
}

// That 2 loses nothing to 1 is soon proven. Whether 1 is worse, so that the number of Ps
// matters at all, takes a few trials more, which the race takes while they may tell.
func TestGoesOnWhileNothingIsProvenWorse(t *testing.T) {
	for name, standard := range map[string]int{"without a default": 0, "the default is open": 1} {
		told, most := 0, 0
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 5))
			rules := race.Rules{Values: []int{1, 2}, Default: standard, Goal: race.Proven, Seed: seed}
			trials, end, _ := play(t, rules, func(c race.Choice) race.Trial {
				return race.Trial{Throughput: 1000 * (1 + 0.14*float64(c.Value-1)) * math.Exp(0.04*r.NormFloat64())}
			})
			most = max(most, len(trials))
			if end.Lead.Pick == 2 && end.Lead.Levels[0].Out {
				told++
			}
		}
		if told < 30 || most > 30 {
			t.Errorf("%s: %d of 40 races tell that 1 is worse, after %d trials at most", name, told, most)
		}
	}
}

// That a value cannot carry the rate is claimed like any other difference: of three trials or
// more, at a level for all values.
func TestSaturated(t *testing.T) {
	rules := race.Rules{Values: []int{1, 2}, Default: 2, Rate: 1000}
	for _, c := range []struct {
		name   string
		blocks int
		least  float64 // throughput of the value 1 in its worst block; in its best it is 2% more
		want   bool
	}{
		{"two trials", 2, 700, false},
		{"three", 3, 700, true},
		{"three just below the rate", 3, 980, false},
		{"as many trials above it", 8, 1010, false},
	} {
		var trials []race.Trial
		for b := range c.blocks {
			trials = append(trials, race.Trial{Value: 1, Block: b, Throughput: c.least * (1 + 0.02*float64(b%2)), Saturated: b == 0},
				race.Trial{Value: 2, Block: b, Throughput: 2000 * (1 + 0.02*float64(b%3))})
		}
		if got := race.New(rules, trials).Lead().Levels; got[0].Saturated != c.want || got[1].Saturated {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// What fell behind the rate is later than any other trial, and not one that is missing: a value that
// does so more often than another is not named for the p99 of the rest, and that p99 speaks
// against no value. One trial decides nothing, and a p99 of two neither.
func TestBehind(t *testing.T) {
	for _, c := range []struct {
		name        string
		fell        [2]int  // of twelve trials, of the values 1 and 4
		p99         float64 // of the value 1, in those of 4
		pick, above int     // above: of the bound of what latency may prefer
		best        int
	}{
		{"neither", [2]int{0, 0}, 1, 1, 0, 1},
		{"one trial", [2]int{1, 0}, 1, 1, 0, 1},
		{"a few", [2]int{3, 0}, 1, 4, 0, 4},
		{"most", [2]int{8, 0}, 1, 4, 0, 4},
		{"most, and the others are far better", [2]int{8, 0}, 0.3, 4, 0, 4},
		{"the larger one", [2]int{0, 8}, 1, 1, 0, 1},
		{"both", [2]int{6, 6}, 1, 1, 0, 1},
		{"all but two of both", [2]int{10, 10}, 1, 0, 0, 1},
		{"the smaller one, with more Ps than CPUs above it", [2]int{8, 0}, 1, 1, 3, 1},
	} {
		var trials []race.Trial
		for b := range 12 {
			noise := 1 + 0.01*float64(b%3)
			trials = append(trials, race.Trial{Value: 1, Block: b, Throughput: 1000 * noise, P99: c.p99 * 0.01 * noise, Saturated: b < c.fell[0]},
				race.Trial{Value: 4, Block: b, Throughput: 1000 * noise, P99: 0.0101 * noise, Saturated: b < c.fell[1]})
		}
		lead := race.New(race.Rules{Values: []int{1, 4}, Default: 4, Latency: true, MaxByLatency: c.above}, trials).Lead()
		if lead.Pick != c.pick || c.pick > 0 && lead.Confidence != race.Proven || lead.BestP99 != c.best {
			t.Errorf("%s: pick %d %s, best p99 %d, levels %+v", c.name, lead.Pick, lead.Confidence, lead.BestP99, lead.Levels)
		}
		for i, l := range lead.Levels {
			if lost := c.best != l.Value && c.fell[i] > 1; l.Behind != lost && c.fell[0] != c.fell[1] || l.Behind == (l.P99.Median != nil) {
				t.Errorf("%s: %+v", c.name, l)
			}
		}
	}
}

// The throughput of a value that did not meet the objective is a bound from above. It proves the
// value worse, and neither as good nor better; where no value met it, a race ends.
func TestUnmet(t *testing.T) {
	for name, c := range map[string]struct {
		bound      float64
		missed     [2]int // of four trials, of the values 1 and 2
		pick, peak int
		sure       race.Goal
		out, unmet bool // the value 1
		stop       race.Stop
	}{
		"far below":               {100, [2]int{4, 0}, 2, 2, race.Proven, true, true, ""},
		"the same":                {1000, [2]int{4, 0}, 2, 2, race.Proven, false, true, ""},
		"above":                   {2000, [2]int{4, 0}, 0, 2, "", false, true, race.StopUnmet},
		"half of the trials":      {1000, [2]int{2, 0}, 2, 2, race.Proven, false, true, ""},
		"one of the trials":       {1000, [2]int{1, 0}, 1, 1, race.Proven, false, false, ""},
		"no value":                {1000, [2]int{4, 4}, 0, 0, "", false, true, race.StopUnmet},
		"no value, by and large":  {1000, [2]int{2, 3}, 0, 0, "", false, true, race.StopUnmet},
		"the other value, at all": {1000, [2]int{0, 4}, 1, 1, race.Proven, false, false, ""},
	} {
		rules := race.Rules{Values: []int{1, 2}, Default: 2}
		var trials []race.Trial
		for b := range 4 {
			noise := 1 + 0.002*float64(b%2)
			trials = append(trials, race.Trial{Value: 1, Block: b, Throughput: c.bound * noise, Unmet: b < c.missed[0]},
				race.Trial{Value: 2, Block: b, Throughput: 1000 * noise, Unmet: b < c.missed[1]})
		}
		r := race.New(rules, trials)
		lead := r.Lead()
		if lead.Pick != c.pick || lead.Peak != c.peak || lead.Confidence != c.sure || lead.Levels[0].Out != c.out || lead.Levels[0].Unmet != c.unmet {
			t.Errorf("%s: pick %d %s, peak %d, levels %+v", name, lead.Pick, lead.Confidence, lead.Peak, lead.Levels)
		}
		for _, goal := range []race.Goal{race.Proven, race.Likely} {
			rules.Goal = goal
			if step := race.New(rules, trials).Next(); c.stop != "" && step.Stop != c.stop {
				t.Errorf("%s, until %s: next is %+v", name, goal, step)
			}
		}
	}
}

// The bound of one trial is far below what the value carries: it is measured again before a race
// ends, and then it is out.
func TestOneMissIsMeasuredAgain(t *testing.T) {
	for _, standard := range []int{1, 2, 0} {
		rules := race.Rules{Values: []int{1, 2}, Default: standard}
		var trials []race.Trial
		for b := range 6 {
			if b == 0 || b > 3 {
				trials = append(trials, race.Trial{Value: 1, Block: b, Throughput: 11, Unmet: true})
			}
			trials = append(trials, race.Trial{Value: 2, Block: b, Throughput: 1000 * (1 + 0.002*float64(b%2))})
			if b < 3 {
				continue
			}
			r := race.New(rules, trials)
			step, out := r.Next(), r.Lead().Levels[0].Out
			again := slices.ContainsFunc(step.Block, func(c race.Choice) bool { return c.Value == 1 })
			if b == 3 && (out || !again) || b == 5 && (!out || step.Stop != race.StopGoal) {
				t.Errorf("default %d, %d blocks: out %v, next %+v", standard, b+1, out, step)
			}
		}
	}
}

func TestBatchHasNoLatency(t *testing.T) {
	rules := Rules(8, race.Proven)
	rules.Latency = false
	trials, step, _ := play(t, rules, steady(1, func(n float64) (float64, float64) { return min(n, 4), 0 }))
	if a := step.Lead; a.Pick != 4 || a.Confidence != race.Proven || a.BestP99 != 0 {
		t.Errorf("pick %d %s after %d trials, best p99 %d", a.Pick, a.Confidence, len(trials), a.BestP99)
	}
	if len(trials) > 30 {
		t.Errorf("%d trials for what throughput alone decides", len(trials))
	}
}

func TestListedValuesHaveThreeBlocksEach(t *testing.T) {
	rules := race.Rules{Values: []int{1, 3, 7, 24, 31, 40, 55}, Listed: true, Latency: true}
	trials, step, _ := play(t, rules, steady(2, func(n float64) (float64, float64) { return min(n, 7), 1 / min(n, 7) }))
	for _, l := range step.Lead.Levels {
		if l.Trials < 3 {
			t.Errorf("%d has %d trials", l.Value, l.Trials)
		}
	}
	for _, x := range trials {
		if !slices.Contains(rules.Values, x.Value) {
			t.Errorf("%d is not listed", x.Value)
		}
	}
	if step.Lead.Pick != 7 {
		t.Errorf("pick %d", step.Lead.Pick)
	}
}

// The load shares the CPUs: p99 is far better above them, which is not the program's.
func TestNoValueAboveTheBoundIsPreferredByLatency(t *testing.T) {
	shared := func(n float64) (float64, float64) {
		if n > 4 {
			return 4, 0.2
		}
		return min(n, 4), 1
	}
	for bound, want := range map[int]int{0: 5, 4: 4} {
		rules := Rules(8, race.Proven)
		rules.MaxByLatency, rules.Default = bound, 4
		_, step, _ := play(t, rules, steady(3, shared))
		if got := step.Lead.Pick; got != want {
			t.Errorf("bound %d: pick %d, want %d", bound, got, want)
		}
	}
	// More throughput above the bound is the program's.
	rules := Rules(8, race.Proven)
	rules.MaxByLatency = 4
	_, step, _ := play(t, rules, steady(3, func(n float64) (float64, float64) { return min(n, 7), 1 }))
	if got := step.Lead.Pick; got != 7 {
		t.Errorf("by throughput: pick %d, want 7", got)
	}
}

// The default is not put out by two unlucky trials, and no race ends before it has three.
func TestDefaultIsHeardOut(t *testing.T) {
	for seed := range uint64(40) {
		good := steady(seed, func(n float64) (float64, float64) { return min(n, 4), 1 })
		rules := Rules(5, race.Proven)
		rules.Default = 4
		heard := 0
		_, step, _ := play(t, rules, func(c race.Choice) race.Trial {
			x := good(c)
			if c.Value == rules.Default {
				if heard++; heard <= 2 {
					x.Throughput *= 0.75
				}
			}
			return x
		})
		if heard < 3 {
			t.Errorf("seed %d: the race ended with %d trials of the default", seed, heard)
		}
		if a := step.Lead; a.Pick > 5 || a.Pick != 0 && a.Pick < 4 {
			t.Errorf("seed %d: pick %d", seed, a.Pick)
		}
	}
}

// Of equal values one has a first trial far below the others, as that of a batch job whose file is
// not in the page cache. It is measured again before a race ends, and it is not out.
func TestOneTrialDecidesNothing(t *testing.T) {
	for _, goal := range []race.Goal{race.Proven, race.Likely} {
		for slow := 1; slow <= 4; slow++ {
			for seed := range uint64(10) {
				r := rand.New(rand.NewPCG(seed, 3))
				rules := Rules(4, goal)
				rules.Latency, rules.Seed = false, seed
				count := 0
				trials, end, _ := play(t, rules, func(c race.Choice) race.Trial {
					x := race.Trial{Throughput: math.Exp(0.01 * r.NormFloat64())}
					if c.Value == slow {
						if count++; count == 1 {
							x.Throughput *= 0.35
						}
					}
					return x
				})
				if count < 2 || end.Lead.Levels[slow-1].Out {
					t.Errorf("%s, seed %d: of %d trials %d are of %d, %+v; pick %d", goal, seed, len(trials), count, slow, end.Lead.Levels[slow-1], end.Lead.Pick)
				}
			}
		}
	}
}

func TestSlowerValueWithFarBetterLatencyIsATradeOff(t *testing.T) {
	rules := Rules(6, race.Proven)
	_, step, why := play(t, rules, steady(4, func(n float64) (float64, float64) {
		if n == 2 {
			return 0.8, 0.2
		}
		return min(1, n/3), 1
	}))
	if a := step.Lead; a.Trade != 2 || a.Pick != 3 {
		t.Errorf("pick %d, trade %d", a.Pick, a.Trade)
	}
	if !slices.Contains(why, race.WhyTrade) {
		t.Errorf("2 was not looked at again: %v", why)
	}
}

func TestFailedValuesAreLeftOut(t *testing.T) {
	good := steady(5, func(n float64) (float64, float64) { return min(n, 4), 1 })
	rules := Rules(16, race.Proven)
	trials, step, _ := play(t, rules, func(c race.Choice) race.Trial {
		if c.Value == 4 || c.Value == 6 {
			return race.Trial{Failed: true}
		}
		return good(c)
	})
	tries := map[int]int{}
	for _, x := range trials {
		tries[x.Value]++
	}
	if tries[4] > 3 || tries[6] > 3 || step.Lead.Pick != 5 {
		t.Errorf("pick %d, tries %v", step.Lead.Pick, tries)
	}
	_, step, _ = play(t, rules, func(race.Choice) race.Trial { return race.Trial{Failed: true} })
	if step.Stop != race.StopNothing {
		t.Errorf("all fail: %+v", step)
	}
}

// A value of the first look that nothing tells of is looked at again before the end.
func TestMissedValuesAreLookedAtAgain(t *testing.T) {
	rules := Rules(4, race.Proven)
	trials, _, _ := play(t, rules, steady(5, func(n float64) (float64, float64) { return n, 1 }))
	without := slices.DeleteFunc(slices.Clone(trials), func(x race.Trial) bool { return x.Value == 1 })
	if step := race.New(rules, without).Next(); step.Why != race.WhyGrid || !slices.ContainsFunc(step.Block, func(c race.Choice) bool { return c.Value == 1 }) {
		t.Errorf("%s %+v, %q; want 1 measured", step.Why, step.Block, step.Stop)
	}
	without = append(without, race.Trial{Value: 1, Failed: true})
	if step := race.New(rules, without).Next(); step.Why == race.WhyGrid {
		t.Errorf("a value that failed is not missed: %+v", step.Block)
	}
}

func TestUnsetAlternatesWithItsNumber(t *testing.T) {
	rules := Rules(4, race.Proven)
	for name, tc := range map[string]struct {
		slowdown float64
		apart    bool
	}{"alike": {1, false}, "one is slower": {0.7, true}} {
		good := steady(6, func(n float64) (float64, float64) { return n, 1 })
		unset, number := 0, 0
		_, step, _ := play(t, rules, func(c race.Choice) race.Trial {
			x := good(c)
			if c.Value == 4 && c.Unset {
				x.Throughput *= tc.slowdown
				unset++
			} else if c.Value == 4 {
				number++
			}
			if c.Unset && c.Value != 4 {
				t.Errorf("%s: %d ran unset", name, c.Value)
			}
			return x
		})
		if unset-number < 0 || unset-number > 1 {
			t.Errorf("%s: %d unset, %d as a number", name, unset, number)
		}
		a := step.Lead
		if a.Copies.Apart != tc.apart || (a.Pick == 0) != tc.apart {
			t.Errorf("%s: copies %+v, pick %d", name, a.Copies, a.Pick)
		}
	}
}

func TestLimit(t *testing.T) {
	for k, want := range map[int]int{5: 38, 16: 62, 64: 94} {
		if got := Rules(k, race.Proven).Limit(); got != want {
			t.Errorf("%d values: limit %d, want %d", k, got, want)
		}
	}
	rules := Rules(16, race.Proven)
	rules.MaxTrials = 20
	r := rand.New(rand.NewPCG(7, 7))
	run := Race(NewCurve("flat", 16, r), Noises()[0], rules, r)
	if len(run.Trials) > 20 || run.Lead.Confidence == race.Proven || len(run.Lead.Open) == 0 {
		t.Errorf("%d trials, %s, %d open, stop %s", len(run.Trials), run.Lead.Confidence, len(run.Lead.Open), run.Stop)
	}
	for _, c := range run.Lead.Open {
		if c.Trials < 0 {
			t.Errorf("open: %+v", c)
		}
	}
}

func TestNothingYet(t *testing.T) {
	rules := Rules(64, race.Proven)
	step := race.New(rules, nil).Next()
	var values []int
	for _, c := range step.Block {
		values = append(values, c.Value)
	}
	slices.Sort(values)
	if want := []int{1, 2, 4, 8, 16, 32, 64}; !slices.Equal(values, want) {
		t.Errorf("first block %v", values)
	}
	m := race.New(rules, nil).Lead().Model
	if m.Trials(1, race.Throughput) != 0 {
		t.Error("a model of nothing has trials")
	}
	if x, _, _ := m.Ratio(1, 2, race.Throughput, 0.95); !math.IsNaN(x) {
		t.Errorf("ratio %g", x)
	}
}

// Where the pick is proven and nothing is worse, the default may be likely only: what it lacks is named,
// so that a race that is given as many trials more goes on.
func TestLikelyDefaultNamesWhatItLacks(t *testing.T) {
	met, went := 0, 0
	for seed := range uint64(60) {
		rules := Rules(4, race.Proven)
		rules.Values, rules.Seed, rules.MaxTrials = []int{1, 2, 4}, seed, 38
		trials, end, _ := play(t, rules, steady(seed, func(float64) (float64, float64) { return 1000, 0.01 }))
		if end.Stop != race.StopGoal || end.Lead.Confidence != race.Proven || end.Lead.Default != race.Likely || end.Lead.Pick == 4 {
			continue
		}
		met++
		more := 0
		for _, o := range end.Lead.Open {
			if more = max(more, o.Trials); o.A != 4 && o.B != 4 || o.Trials == 0 {
				more = 0
				break
			}
		}
		if len(end.Lead.Open) == 0 {
			t.Errorf("seed %d: the default is %s, and nothing is open: %+v", seed, end.Lead.Default, end.Lead)
		}
		if rules.MaxTrials = len(trials) + more; more > 0 && race.New(rules, trials).Next().Stop == "" {
			went++
		} else if more > 0 {
			t.Errorf("seed %d: %d more trials are to decide, and the race does not go on", seed, more)
		}
	}
	if t.Logf("%d races with a likely default, %d of which went on", met, went); met == 0 || went == 0 {
		t.Error("no race ended with a default that is likely")
	}
}

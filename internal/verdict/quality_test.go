package verdict_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
	"github.com/procfit/procfit/test/chance"
)

// equal is settings that are all the same, under a gate against a command that is
// the same too.
func equal() []Truth {
	settings := []Truth{Unset(8, 5000, .02), Set(1, 5000, .02), Set(2, 5000, .02), Set(4, 5000, .02), Set(8, 5000, .02), Set(16, 5000, .02)}
	return append(settings, Against(Unset(8, 5000, .02), Set(8, 5000, .02))...)
}

// Of 100 sweeps over equal settings at most 5 may claim a difference, by verdict, in
// a reason, or by failing the gate. A gate that has no answer claims none.
func TestEqualSettings(t *testing.T) {
	n := chance.Sweeps(100)
	claims, verdicts := 0, map[verdict.Verdict]int{}
	for seed := range n {
		r := analyze(Config{Seed: uint64(seed), Settings: equal(), Gate: true})
		rec := r.Groups[0].Recommendation
		verdicts[rec.Verdict]++
		claim := rec.Verdict == verdict.Recommended || rec.Verdict == verdict.TradeOff ||
			slices.ContainsFunc(r.Gate.Checks, func(c verdict.GateCheck) bool { return c.Worse })
		for _, reason := range rec.Reasons {
			claim = claim || reason.Code() == "worse_throughput" || reason.Code() == "worse_p99"
		}
		if claim {
			claims++
			t.Logf("seed %d: gate %v, %+v", seed, r.Gate.Pass, rec)
		}
	}
	t.Logf("%d of %d sweeps claim a difference; verdicts %v", claims, n, verdicts)
	most := 5 * n / 100
	if n < 100 {
		most = chance.Most(n, 0.05)
	}
	if claims > most {
		t.Errorf("%d of %d sweeps over equal settings claim a difference", claims, n)
	}
}

// A pick that loses more than the margin must be rare, and picks must not be.
// The published method's own numbers at 160 trials are 0.5% and +1.7 Ps.
func TestPicks(t *testing.T) {
	n := chance.Sweeps(10)
	all, picked, bad, excess := 0, 0, 0, 0
	for _, c := range Curves(8) {
		settings := c.Settings(8, 1, 2, 4, 6, 8, 12, 16)
		count := map[verdict.Verdict]int{}
		badHere, pickedHere := 0, 0
		for seed := range n {
			rec := analyze(Config{Seed: uint64(seed), Settings: settings, Blocks: 10, Mode: journal.ModeClosed}).Recommendation
			count[rec.Verdict]++
			all++
			pick := 8
			switch rec.Verdict {
			case verdict.Recommended:
				pick = *rec.Procs
			case verdict.KeepDefault, verdict.NoDifference:
			default:
				continue
			}
			best, smallest := 0.0, 0
			for _, a := range settings {
				best = max(best, c.At(float64(a.Resolved)))
			}
			for _, a := range settings[1:] {
				if smallest == 0 && c.At(float64(a.Resolved)) >= 0.95*best {
					smallest = a.Resolved
				}
			}
			pickedHere++
			if c.At(float64(pick)) < 0.95*best {
				badHere++
			}
			if rec.Verdict != verdict.NoDifference {
				excess += pick - smallest
			}
		}
		t.Logf("%-30s picked %d of %d, bad %d: %v", c.Name, pickedHere, n, badHere, count)
		picked, bad = picked+pickedHere, bad+badHere
	}
	t.Logf("%d of %d sweeps pick a value; %.2f%% of picks lose more than 5%%; mean excess %.2f Ps", picked, all, 100*float64(bad)/float64(picked), float64(excess)/float64(picked))
	if float64(bad) > 0.02*float64(picked)+1 {
		t.Errorf("%d of %d picks lose more than the margin", bad, picked)
	}
	if picked*5 < all*2 {
		t.Errorf("only %d of %d sweeps come to a value", picked, all)
	}
}

func TestUberTableWithNoise(t *testing.T) {
	n := chance.Sweeps(12)
	count := map[int]int{}
	for seed := range n {
		rec := analyze(Config{Seed: uint64(seed), Settings: Uber(), Blocks: 10, Mode: journal.ModeClosed}).Recommendation
		if rec.Procs != nil {
			count[*rec.Procs]++
		} else {
			count[0]++
		}
	}
	t.Logf("picks (0: none) %v", count)
	if count[2]*10 < n*7 || count[1]+count[4]+count[8]+count[24] > 0 {
		t.Errorf("picks %v: want 2 in most sweeps, and never a value that loses", count)
	}
}

func TestCurveFigures(t *testing.T) {
	r := analyze(Config{Settings: CPUServer(), Noise: &Noise{}})
	g := r.Groups[0]
	for i, want := range []float64{6.51, 1, 1.96, 3.77, 6.51, 6.37} {
		if got := g.Settings[i].Speedup; got == nil || math.Abs(*got-want) > 0.01 {
			t.Errorf("speed-up of %s: %v, want %.2f", g.Settings[i].Label, got, want)
		}
	}
	if g.Peak != "8" || g.Workload.Kind != "cpu-bound" || g.Workload.Setting != "default" {
		t.Errorf("peak %q, workload %+v", g.Peak, g.Workload)
	}
	if f := g.Flatness; len(f.WithinMargin) != 3 || f.WorstAbove == nil || math.Abs(*f.WorstAbove-0.978) > 0.001 {
		t.Errorf("flatness %+v", f)
	}
	if p := g.Settings[0].ResolvedProcs; p == nil || *p != 8 || g.Settings[0].Procs != nil {
		t.Errorf("unset resolved to %v", p)
	}
	for i, want := range []bool{true, false, false, false, true, true} {
		if got := g.Settings[i].NonInferior.Throughput; got == nil || *got != want {
			t.Errorf("%s as good: %v, want %v", g.Settings[i].Label, got, want)
		}
	}
}

// Whatever the trials hold, the analysis must end and its result be JSON.
func FuzzAnalyze(f *testing.F) {
	f.Add(uint64(1), []byte{0})
	f.Add(uint64(2), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	f.Add(uint64(3), []byte{255, 7, 7, 7, 3, 3, 3})
	f.Add(uint64(3), []byte("1c0ccc")) // the peak was 0, and what is above it NaN of it
	f.Add(uint64(4), []byte{12, 13, 14, 15, 16, 17, 0})
	f.Add(uint64(6), []byte{240, 241, 242, 243, 0, 0, 11})
	f.Add(uint64(2), []byte("A!0")) // a bound beyond what a number holds
	f.Fuzz(func(t *testing.T, seed uint64, ops []byte) {
		i := 0
		next := func() byte {
			if len(ops) == 0 {
				return 0
			}
			i++
			return ops[(i-1)%len(ops)]
		}
		settings := append(CPUServer(), Against(Set(1, 1, 1))...)
		r := analyze(Config{Seed: seed, Settings: settings, Blocks: 1 + int(seed%7), Gate: seed%2 == 0, SmallFor: seed%3 == 0, NoAA: seed%5 == 0, Trial: func(tr *journal.Trial) { spoil(tr, next()) }})
		if _, err := json.Marshal(r); err != nil { // there is no NaN and no infinity in any field
			t.Error(err)
		}
		if len(r.Groups) > 0 && r.Groups[0].Recommendation.Verdict == verdict.Undecided && r.Groups[0].Recommendation.Claim.Code() == "" {
			t.Error("cannot tell, and not why")
		}
		gate, err := verdict.GateBaseline(r, r)
		if err != nil {
			t.Log(err)
		}
		if _, err := json.Marshal(gate); err != nil {
			t.Error(err)
		}
	})
}

// spoil takes something from a trial, or changes it.
func spoil(t *journal.Trial, how byte) {
	kind := how % 20
	if how >= 240 {
		kind = 20 + how%4
	}
	spoils[kind](t, float64(how))
}

var spoils = [24]func(t *journal.Trial, how float64){
	0: func(*journal.Trial, float64) {},
	1: func(t *journal.Trial, _ float64) { t.Valid, t.InvalidReason = false, "crashed" },
	2: func(t *journal.Trial, _ float64) { t.ThroughputPerSecond = nil },
	3: func(t *journal.Trial, _ float64) { t.ThroughputPerSecond = new(0.0) },
	4: func(t *journal.Trial, _ float64) { t.LatencySeconds = nil },
	5: func(t *journal.Trial, _ float64) { t.LatencySeconds = &journal.Latency{} },
	6: func(t *journal.Trial, _ float64) { t.ObservedProcs = nil },
	7: func(t *journal.Trial, _ float64) { t.Phases = nil },
	8: func(t *journal.Trial, _ float64) {
		t.Usage, t.Load = journal.Usage{MeasuredSeconds: t.MeasuredSeconds}, nil
	},
	9:  func(t *journal.Trial, _ float64) { t.MeasuredSeconds = 0 },
	10: func(t *journal.Trial, how float64) { t.Block = -int(how) },
	11: func(t *journal.Trial, how float64) { t.ThroughputPerSecond = new(1e-300 * how) },
	12: func(t *journal.Trial, _ float64) { t.ThroughputPerSecond = new(math.SmallestNonzeroFloat64) },
	13: func(t *journal.Trial, _ float64) { t.ThroughputPerSecond = new(math.MaxFloat64) },
	14: func(t *journal.Trial, _ float64) {
		t.LatencySeconds = &journal.Latency{P50: new(1e-320), P99: new(1e-320)}
	},
	15: func(t *journal.Trial, _ float64) { t.Origin = journal.OriginKube },
	16: func(t *journal.Trial, _ float64) { t.ThroughputUnit = "rows" },
	17: func(t *journal.Trial, how float64) {
		t.HostUse = &journal.HostUse{OtherCPUSeconds: new(1e300), TargetCPUs: int(how)}
	},
	18: func(t *journal.Trial, _ float64) {
		t.OuterLimits = []journal.OuterLimit{{Group: "/", CPUs: 1e-300, Cgroup: journal.Cgroup{Periods: 1, ThrottledPeriods: 1 << 62}}}
	},
	19: func(t *journal.Trial, _ float64) { t.MeasuredSeconds = 1e-320 },
	20: func(t *journal.Trial, how float64) {
		t.Metrics = map[string]journal.Metric{"p99-ns": {Value: 1e-300, Unit: "p99-ns", Better: "lower"}, "x ns/op": {Value: 1e300 * how, Unit: "ns/op", Better: "lower"}}
	},
	21: func(t *journal.Trial, _ float64) {
		t.CPUSeconds, t.RunQueueWaitSeconds = &journal.CPUSeconds{User: math.MaxFloat64, System: math.MaxFloat64}, new(1e308)
	},
	22: func(t *journal.Trial, _ float64) {
		for i := range t.Phases {
			t.Phases[i].AchievedPerSecond = 1e-310
		}
	},
	23: func(t *journal.Trial, _ float64) {
		t.Load = &journal.LoadCost{CPUSeconds: math.MaxFloat64, SendLagP99Seconds: new(1e308)}
	},
}

func BenchmarkAnalyze(b *testing.B) {
	var procs []int
	for n := 1; n < 64; n++ {
		procs = append(procs, n)
	}
	for _, c := range []Curve{Curves(8)[0], Curves(8)[4]} {
		b.Run(c.Name, func(b *testing.B) {
			h, trials := Generate(Config{Settings: c.Settings(8, procs...), Blocks: 20})
			for b.Loop() {
				verdict.Analyze(h, trials)
			}
		})
	}
}

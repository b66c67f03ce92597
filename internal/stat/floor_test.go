package stat

import (
	"math"
	"testing"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/stat/stattest"
)

// What is called worse is so by more than copies differ by, as both are shown.
func TestNothingBelowTheFloorIsCalledWorse(t *testing.T) {
	const floor = 0.105
	j := newJudge(0.05, 0.20)
	j.floors(NoiseFloor{Throughput: new(floor), P99: new(0.5)})
	zero := make(series, 8)
	for slower := 0.0605; slower < 0.2; slower += 0.001 {
		s := make(series, 8)
		for i := range s {
			s[i] = math.Log(1 - slower)
		}
		if c := j.throughput(s, zero); c.worse != (slower > floor) {
			t.Errorf("%.3f slower at a floor of %.3f: worse %v", slower, floor, c.worse)
		}
	}
	higher := series{math.Log(1.45), math.Log(1.45), math.Log(1.45), math.Log(1.45), math.Log(1.45), math.Log(1.45), math.Log(1.45), math.Log(1.45)}
	if j.p99(higher, zero).worse {
		t.Error("45 % higher at a floor of 50 % is called worse")
	}
	if j.floors(NoiseFloor{Throughput: new(1.2)}); j.throughput(series{-9, -9, -9}, zero[:3]).worse {
		t.Error("worse, although copies differ by more than all")
	}
}

func TestDetectableIsNullWhereItSaysNothing(t *testing.T) {
	for _, c := range []struct {
		sd   float64
		n    int
		null bool
	}{{.03, 2, true}, {.03, 3, false}, {.03, 6, false}, {3, 3, true}} {
		if got := detectableRatio(c.sd, c.n); (got == nil) != c.null {
			t.Errorf("sd %g, n %d: %v", c.sd, c.n, got)
		}
	}
}

// The figures of a claim and of its reasons are those of the tables.
func TestClaimsHaveTheMediansOfTables(t *testing.T) {
	h, trials := stattest.Generate(stattest.Config{Seed: 5, Arms: stattest.CPUServer(), Noise: &stattest.Noise{Trial: 0.02, P99: 0.1}})
	r := Analyze(h, trials)
	rec, unset := r.Recommendation, r.Groups[0].Arms[0]
	if rec.Verdict != KeepDefault || *rec.Claim.Of.Throughput != *unset.Throughput.Median || *rec.Claim.Of.P99 != *unset.P99.Median {
		t.Errorf("%+v, want the medians of %+v", rec.Claim.Of, unset)
	}
	for _, a := range r.Groups[0].Arms {
		if a.Label == r.Groups[0].Peak && *rec.Reasons[0].Of.Throughput != *a.Throughput.Median {
			t.Errorf("%+v, want the median of %s: %g", rec.Reasons[0].Of, a.Label, *a.Throughput.Median)
		}
		if a.Procs != nil && *a.Throughput.Median > peak(r) {
			t.Errorf("%s has a higher median than the peak %s", a.Label, r.Groups[0].Peak)
		}
	}
	// Two values, of which the geometric mean is 20 and the arithmetic 25.
	h, trials = stattest.Generate(stattest.Config{Blocks: 2, NoAA: true, Arms: []stattest.Truth{stattest.Set(1, 1, 1), stattest.Set(2, 1, 1)}, Mode: journal.ModeClosed,
		Trial: func(t *journal.Trial) { *t.ThroughputPerSecond = []float64{10, 40}[t.Block] * float64(*t.Arm.Procs) }})
	if got := Analyze(h, trials).Recommendation.Reasons[0]; *got.Of.Throughput != 50 {
		t.Errorf("%+v", got.Of)
	}
}

func peak(r *Result) float64 {
	for _, a := range r.Groups[0].Arms {
		if a.Label == r.Groups[0].Peak {
			return *a.Throughput.Median
		}
	}
	return 0
}

package verdict_test

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// benchmarked is a sweep of Go benchmarks, whose times are a factor of those at one P.
func benchmarked(seed uint64, at map[string]func(procs float64) float64) *verdict.Result {
	settings := []verdicttest.Truth{verdicttest.Unset(4, 1000, 0), verdicttest.Set(1, 1000, 0), verdicttest.Set(2, 1000, 0), verdicttest.Set(4, 1000, 0)}
	return analyze(verdicttest.Config{Seed: seed, Mode: journal.ModeBatch, Settings: settings, Noise: &verdicttest.Noise{Trial: 0.01}, Trial: benchmarks(at)})
}

func TestEachBenchmarkIsComparedByItself(t *testing.T) {
	r := benchmarked(1, map[string]func(float64) float64{
		"Faster": func(n float64) float64 { return 1 / n },
		"Same":   func(float64) float64 { return 1 },
		"Slower": func(n float64) float64 { return n },
	})
	b := r.Groups[0].Benchmarks
	if b == nil || len(b.List) != 3 || len(b.Procs) != 3 || b.Procs[b.Base] != 4 {
		t.Fatalf("benchmarks %+v", b)
	}
	for i, want := range []struct {
		name    string
		ratio   float64 // at one P, to the default's four
		differs bool
		wants   int // 0: nothing else
	}{{"Faster", 4, true, 0}, {"Same", 1, false, 0}, {"Slower", 0.25, true, 1}} {
		got := b.List[i]
		one := got.Times[0]
		if got.Name != want.name || one.Differs != want.differs || *one.VersusBase.Low > want.ratio || *one.VersusBase.High < want.ratio {
			t.Errorf("%s: %+v with %v, want %+v", got.Name, one, *one.VersusBase.Median, want)
		}
		if (got.Wants != nil) != (want.wants > 0) || got.Wants != nil && *got.Wants != want.wants {
			t.Errorf("%s wants %v, want %d", got.Name, got.Wants, want.wants)
		}
		if base := got.Times[b.Base]; base.VersusBase.Median != nil || base.Seconds.Median == nil {
			t.Errorf("%s: the base is compared with itself: %+v", got.Name, base)
		}
	}
	if b.Mean[0].Differs {
		t.Errorf("the mean of what is alike differs: %+v", b.Mean[0].VersusBase)
	}
}

// One run in fourteen that is three times as slow does not put a ratio outside of its own bounds.
func TestTheRatioOfABenchmarkIsWithinItsBounds(t *testing.T) {
	settings := []verdicttest.Truth{verdicttest.Unset(2, 5000, .02), verdicttest.Set(1, 5000, .02)}
	h, trials := verdicttest.Generate(verdicttest.Config{Mode: journal.ModeBatch, Blocks: 14, NoAA: true, Settings: settings, Noise: &verdicttest.Noise{Trial: 0.01}, Trial: func(t *journal.Trial) {
		speed := *t.ThroughputPerSecond / 5000
		if t.Block == 3 && t.Setting.Label == "1" {
			speed /= 3
		}
		one := journal.Metric{Value: 1000 / speed, Unit: "ns/op", Better: "lower"}
		t.ThroughputUnit, t.ThroughputPerSecond, t.Metrics = "operations", new(1e6*speed), map[string]journal.Metric{"A ns/op": one, "B ns/op": one}
	}})
	b := verdict.Analyze(h, trials).Groups[0].Benchmarks
	if b == nil || len(b.List) != 2 || b.Base != 1 {
		t.Fatalf("benchmarks %+v", b)
	}
	if x := b.List[0].Times[0].VersusBase; x.Low == nil || *x.Median < *x.Low || *x.Median > *x.High {
		t.Errorf("%g [%g, %g]", *x.Median, *x.Low, *x.High)
	}
}

// Two equal settings are distinguished in no more than one table of twenty, whatever its size.
func TestBenchmarksThatAreAlike(t *testing.T) {
	same := func(float64) float64 { return 1 }
	at := map[string]func(float64) float64{}
	for _, name := range []string{"A", "B", "C", "D", "E", "F", "G", "H"} {
		at[name] = same
	}
	wrong := 0
	for seed := range uint64(40) {
		told := false
		for _, one := range benchmarked(seed, at).Groups[0].Benchmarks.List {
			for _, x := range one.Times {
				told = told || x.Differs
			}
		}
		if told {
			wrong++
		}
	}
	if wrong > 5 { // of 40 at 5%: more has a probability below 1%
		t.Errorf("%d of 40 tables tell alike benchmarks apart", wrong)
	}
}

func TestOneBenchmarkHasNoMean(t *testing.T) {
	if b := benchmarked(1, map[string]func(float64) float64{"A": func(float64) float64 { return 1 }}).Groups[0].Benchmarks; b != nil {
		t.Errorf("benchmarks of one: %+v", b)
	}
}

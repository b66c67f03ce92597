package verdict_test

import (
	"math"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
	"github.com/procfit/procfit/test/chance"
)

// benchmarks makes each trial one of go test -bench: the time of each benchmark by
// the Ps that the trial ran at; the throughput is the geometric mean.
func benchmarks(ns map[string]func(procs float64) float64) func(*journal.Trial) {
	return func(t *journal.Trial) {
		noise := *t.ThroughputPerSecond / 1000
		t.Metrics = map[string]journal.Metric{}
		logs := 0.0
		for name, of := range ns {
			x := of(float64(*t.ObservedProcs[0])) / noise
			t.Metrics[name+" ns/op"] = journal.Metric{Value: x, Unit: "ns/op", Better: "lower"}
			logs += math.Log(1e9 / x)
		}
		t.ThroughputPerSecond, t.ThroughputUnit = new(math.Exp(logs/float64(len(ns)))), "operations"
	}
}

func TestMetricsQualifyTheVerdict(t *testing.T) {
	flat := func(float64) float64 { return 1000 }
	falling := func(p float64) float64 { return 1000 * math.Max(1, p/4) * math.Max(1, p/4) }
	settings := []Truth{Unset(8, 1000, 0), Set(1, 1000, 0), Set(2, 1000, 0), Set(4, 1000, 0), Set(8, 1000, 0)}
	noise := &Noise{Trial: 0.01}
	for _, c := range []struct {
		name    string
		ns      map[string]func(float64) float64
		verdict verdict.Verdict
		cause   verdict.Code
		worse   string  // the metric; empty: none
		change  float64 // of it, about
	}{
		{"all the same", map[string]func(float64) float64{"A": flat, "B": flat, "C": flat}, verdict.NoDifference, "", "", 0},
		{"one gains what another loses", map[string]func(float64) float64{
			"Grow": func(p float64) float64 { return 8000 / p }, "Shrink": func(p float64) float64 { return 1000 * p },
		}, verdict.Undecided, "benchmarks_differ", "Shrink ns/op", 7},
		{"the mean wants 4, one benchmark 1", map[string]func(float64) float64{
			"Fast": func(p float64) float64 { return 16000 / math.Min(p, 4) / math.Min(p, 4) * math.Max(1, p/4) }, "Slow": func(p float64) float64 { return 1000 * math.Pow(p, 0.4) }, "Else": falling,
		}, verdict.Recommended, "", "Slow ns/op", 0.74},
	} {
		r := analyze(Config{Mode: journal.ModeBatch, Noise: noise, Settings: settings, Trial: benchmarks(c.ns)})
		rec := r.Recommendation
		if rec.Verdict != c.verdict || rec.Claim.Code() != c.cause {
			t.Errorf("%s: %+v, want %s for %q", c.name, rec, c.verdict, c.cause)
		}
		if rec.Verdict == verdict.Undecided && (rec.Confidence != "" || rec.Setting != "" || rec.Procs != nil || rec.Versus != nil) {
			t.Errorf("%s: undecided, and yet %s %q: %+v", c.name, rec.Confidence, rec.Setting, rec)
		}
		worse, _ := warned[verdict.MetricsWorse](r)
		warned := worse.Losses
		if c.worse == "" {
			if warned != nil || speaksOf(rec, "metric_worse") {
				t.Errorf("%s: warned of %+v", c.name, warned)
			}
			continue
		}
		first, _ := rec.Reasons[0].(verdict.ReasonMetricWorse)
		if first.Metric != c.worse || math.Abs(first.Change/c.change-1) > 0.1 || first.Bound > first.Change || len(warned) == 0 || warned[0].Metric != c.worse {
			t.Errorf("%s: the first reason is %+v, warned of %+v", c.name, first, warned)
		}
	}
}

// Of sweeps over equal settings that print twenty metrics, few may find one worse.
func TestEqualMetrics(t *testing.T) {
	n := chance.Sweeps(60)
	claims := 0
	for seed := range n {
		i := 0.0
		r := analyze(Config{Seed: uint64(seed), Settings: equal(), Trial: func(t *journal.Trial) {
			t.Metrics = map[string]journal.Metric{}
			for k := range 20 {
				i++
				_, noise := math.Modf(math.Abs(math.Sin(i*12.9898+float64(seed))) * 43758.5453)
				t.Metrics[string(rune('a'+k))] = journal.Metric{Value: 1 + 0.4*noise, Better: []string{"lower", "higher"}[k%2]}
			}
		}})
		if has[verdict.MetricsWorse](r) {
			claims++
		}
	}
	t.Logf("%d of %d sweeps", claims, n)
	most := 6 * n / 100
	if n < 60 {
		most = chance.Most(n, 0.05)
	}
	if claims > most {
		t.Errorf("%d of %d sweeps over equal settings find a metric worse", claims, n)
	}
}

// The best of sixteen values in a metric may be the best by luck, where that of two is not.
func TestTheBestOfManyIsLucky(t *testing.T) {
	for values, want := range map[int]bool{2: true, 16: false} {
		settings := []Truth{Unset(16, 1000, 0)}
		for n := 1; n < values; n++ {
			settings = append(settings, Set(n, 1000, 0))
		}
		stray := []float64{-1.2, 0.3, -0.2, 1.2, -0.7, 0.6}
		r := analyze(Config{Mode: journal.ModeBatch, CPUs: 16, Noise: quiet, Settings: settings, Trial: func(t *journal.Trial) {
			x := 1.0
			if t.Setting.Label == "1" {
				x = math.Exp(-0.15 - 0.08*stray[t.Block])
			}
			t.Metrics = map[string]journal.Metric{"wait": {Value: x, Better: "lower"}}
		}})
		if got := has[verdict.MetricsWorse](r); got != want {
			t.Errorf("%d values: a metric is proven worse: %v", values, got)
		}
	}
}

func TestPointsHoldMetrics(t *testing.T) {
	r := analyze(Config{Mode: journal.ModeBatch, Noise: quiet, Settings: CPUServer()[:2], Trial: benchmarks(map[string]func(float64) float64{"A": func(float64) float64 { return 5 }})})
	if p := r.Groups[0].Settings[0].Points[0]; p.Metrics["A ns/op"].Value <= 0 {
		t.Errorf("%+v", p)
	}
}

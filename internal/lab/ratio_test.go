package lab

import (
	"math"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// stageOf is a stage of that many blocks, with a throughput for each number of Ps.
func stageOf(blocks int, throughput func(procs, block int) float64, procs ...int) Measured {
	m := Measured{Result: &verdict.Result{Host: journal.Host{EffectiveCPUs: 2}}}
	for block := range blocks {
		for _, p := range procs {
			x := throughput(p, block)
			t := journal.Trial{Role: journal.RoleMeasure, Block: block, Valid: true, ThroughputPerSecond: &x, Metrics: map[string]journal.Metric{"took": {Value: 1 / x}}}
			if p > 0 {
				t.Setting.Procs = &p
			}
			m.Trials = append(m.Trials, t)
		}
	}
	return m
}

// with changes every trial of a copy.
func (m Measured) with(change func(*journal.Trial)) Measured {
	m.Trials = append([]journal.Trial(nil), m.Trials...)
	for i := range m.Trials {
		change(&m.Trials[i])
	}
	return m
}

func both(a, b Measured) Measured {
	a.Trials = append(append([]journal.Trial(nil), a.Trials...), b.Trials...)
	return a
}

func TestRatio(t *testing.T) {
	drift := func(procs, block int) float64 { return float64(procs) * math.Pow(2, float64(block)) }
	six := stageOf(6, drift, 1, 2, 4)
	quota := func(q float64) func(*journal.Trial) { return func(t *journal.Trial) { t.Setting.QuotaCPUs = &q } }
	version := func(v string, factor float64) func(*journal.Trial) {
		return func(t *journal.Trial) {
			x := *t.ThroughputPerSecond * factor
			t.Setting.GoVersion, t.ThroughputPerSecond = v, &x
		}
	}
	versions := both(six.with(version("1.4", 1)), both(six.with(version("1.26", 3)), six.with(func(t *journal.Trial) {
		t.Setting.GoVersion, t.Valid, t.InvalidReason = "9.99", false, "cannot be had\nmore"
	})))
	one := func(procs ps) quantity { return quantity{Procs: procs} }
	today := versions
	today.Result = &verdict.Result{Tool: journal.Tool{GoVersion: "go1.27.1"}}
	for name, tc := range map[string]struct {
		stage   Measured
		measure measure
		want    float64 // NaN: none
		why     string
	}{
		"paired, whatever the drift": {six, ratio(one("4"), one("1")), 4, ""},
		"cost":                       {six, ratio(quantity{Figure: cost, Procs: "4"}, quantity{Figure: cost, Procs: "1"}), 0.25, ""},
		"metric":                     {six, ratio(quantity{Figure: "took", Procs: "2"}, quantity{Figure: "took", Procs: "1"}), 0.5, ""},
		"at the CPUs":                {six, ratio(one("n"), one("1")), 2, ""},
		"no such metric":             {six, ratio(quantity{Figure: "speed", Procs: "2"}, one("1")), math.NaN(), `GOMAXPROCS=2 has no metric "speed"`},
		"a setting that was not run": {six, ratio(one("8"), one("1")), math.NaN(), "GOMAXPROCS=8 was not run"},
		"unset was not run":          {six, ratio(one(""), one("1")), math.NaN(), "default GOMAXPROCS was not run"},
		"another quota":              {six, ratio(quantity{Procs: "2", Quota: 0.5}, one("1")), math.NaN(), "GOMAXPROCS=2 under a quota of 0.5 was not run"},
		"across quotas":              {both(six, six.with(quota(0.5))), ratio(quantity{Procs: "2", Quota: 0.5}, one("1")), 2, ""},
		"the CPUs of a quota":        {six.with(quota(0.5)), ratio(quantity{Procs: "n", Quota: 0.5}, quantity{Procs: "2", Quota: 0.5}), 0.5, ""},
		"across versions":            {versions, ratio(quantity{Procs: "1", Go: "1.26"}, quantity{Procs: "1", Go: "1.4"}), 3, ""},
		"the newest that ran":        {versions, ratio(one("1"), quantity{Procs: "1", Go: "1.4"}), 3, ""},
		"none is today's":            {today, ratio(one("1"), quantity{Procs: "1", Go: "1.4"}), math.NaN(), "GOMAXPROCS=1 with today's Go was not run"},
		"a version that cannot be":   {versions, ratio(quantity{Procs: "1", Go: "9.99"}, one("1")), math.NaN(), "GOMAXPROCS=1 with Go 9.99 has no valid trial: cannot be had"},
		"a version not asked for":    {versions, ratio(quantity{Procs: "1", Go: "1.13"}, one("1")), math.NaN(), "with Go 1.13 was not run"},
		"no version was asked for":   {six, ratio(quantity{Procs: "1", Go: "1.4"}, one("1")), math.NaN(), "with Go 1.4 was not run"},
		"few blocks":                 {stageOf(3, drift, 1, 2), ratio(one("2"), one("1")), 2, "3 blocks: an interval needs 6"},
		"zeros":                      {stageOf(6, func(int, int) float64 { return 0 }, 1, 2), ratio(one("2"), one("1")), math.NaN(), "no block in common"},
		"not a number":               {stageOf(6, func(int, int) float64 { return math.NaN() }, 1, 2), ratio(one("2"), one("1")), math.NaN(), "no block in common"},
		"no trial":                   {Measured{Result: &verdict.Result{}}, ratio(one("2"), one("1")), math.NaN(), "was not run"},
		"not run":                    {Measured{Why: "no cgroup can be made"}, ratio(one("2"), one("1")), math.NaN(), "no cgroup can be made"},
		"another stage":              {six, ratio(quantity{Stage: "pods", Procs: "1"}, one("1")), math.NaN(), "its sweep “pods” is not among"},

		"peak":                  {six, peak(one("4")), 2, ""},
		"not the peak":          {six, peak(one("1")), 0.25, ""},
		"peak beside none":      {stageOf(6, drift, 2), peak(one("2")), math.NaN(), "no other setting was run"},
		"peak of a missing one": {six, peak(one("16")), math.NaN(), "GOMAXPROCS=16 was not run"},

		"flat":              {stageOf(6, func(p, b int) float64 { return 5 }, 1, 2, 4), flat(one("1")), 1, ""},
		"strays upwards":    {six, flat(one("1")), 4, ""},
		"strays downwards":  {six, flat(one("4")), 4, ""},
		"level":             {stageOf(6, func(p, b int) float64 { return 8 }, 1), level(one("1"), 4), 2, ""},
		"level of nothing":  {six, level(one("16"), 1), math.NaN(), "was not run"},
		"level, few blocks": {stageOf(2, drift, 1), level(one("1"), 1), 1.5, "2 blocks"},
	} {
		e := tc.measure.of(Results{"": tc.stage})
		if math.IsNaN(tc.want) != (e.Value == nil) || e.Value != nil && math.Abs(*e.Value-tc.want) > 1e-9 {
			t.Errorf("%s: %+v, want %g", name, e, tc.want)
			continue
		}
		if !strings.Contains(e.Why, tc.why) || (tc.why == "") != (e.Why == "") {
			t.Errorf("%s: %q, want %q in it", name, e.Why, tc.why)
		}
		if (e.Low == nil) != (tc.why != "") || (e.High == nil) != (tc.why != "") {
			t.Errorf("%s: interval %v, %v", name, e.Low, e.High)
		}
		if e.Low != nil && (*e.Low > *e.Value+1e-9 || *e.High < *e.Value-1e-9) {
			t.Errorf("%s: %g lies outside of its interval, %g to %g", name, *e.Value, *e.Low, *e.High)
		}
	}
}

// The interval of something flat but noisy starts at 1, and holds every setting's.
func TestFlatInterval(t *testing.T) {
	noisy := stageOf(6, func(p, b int) float64 {
		return []float64{1, 1.01, 0.99, 1.02, 0.98, 1}[(b+p)%6]
	}, 1, 2, 4)
	e := flat(quantity{Procs: "1"}).of(Results{"": noisy})
	if *e.Low != 1 || *e.High < 1.01 || *e.High > 1.12 {
		t.Errorf("%g [%g, %g]", *e.Value, *e.Low, *e.High)
	}
	gap := noisy.with(func(t *journal.Trial) { t.Valid = *t.Setting.Procs != 4 || t.Block > 0 })
	if e := flat(quantity{Procs: "1"}).of(Results{"": gap}); e.Value == nil || e.Low != nil || !strings.Contains(e.Why, "5 blocks") {
		t.Errorf("a setting that lost a block: %+v", e)
	}
}

func TestEnded(t *testing.T) {
	all := stageOf(6, func(int, int) float64 { return 1 }, 1)
	none := all.with(func(t *journal.Trial) {
		t.Valid, t.InvalidCode, t.InvalidReason = false, journal.InvalidTimeout, "whatever the words are"
	})
	for name, tc := range map[string]struct {
		stage            Measured
		value, low, high float64
		why              string
	}{
		"all":  {all, 1, 0.54, 1, ""},
		"none": {none, 0, 0, 0.46, ""},
		"half": {both(all, none), 0.5, 0.21, 0.79, ""},
		"other causes": {both(all, all.with(func(t *journal.Trial) {
			t.Valid, t.InvalidCode, t.InvalidReason = false, journal.InvalidCrashed, "did not end within its senses"
		})), 1, 0.54, 1, ""},
		"only such": {all.with(func(t *journal.Trial) {
			t.Valid, t.InvalidCode, t.InvalidReason = false, journal.InvalidCrashed, "it crashed\nbadly"
		}), math.NaN(), 0, 0, "GOMAXPROCS=1 has no trial that counts: it crashed"},
		"not run": {stageOf(6, func(int, int) float64 { return 1 }, 2), math.NaN(), 0, 0, "GOMAXPROCS=1 was not run"},
	} {
		e := ended(quantity{Procs: "1"}).of(Results{"": tc.stage})
		if e.Why != tc.why || math.IsNaN(tc.value) != (e.Value == nil) {
			t.Errorf("%s: %+v", name, e)
		} else if e.Value != nil && (*e.Value != tc.value || math.Abs(*e.Low-tc.low) > 0.01 || math.Abs(*e.High-tc.high) > 0.01) {
			t.Errorf("%s: %g [%g, %g], want %g [%g, %g]", name, *e.Value, *e.Low, *e.High, tc.value, tc.low, tc.high)
		}
	}
}

func TestFigureOf(t *testing.T) {
	f := func(x float64) *float64 { return &x }
	closedLoop := journal.Latency{P50: f(1), P99: f(2), Mean: f(3), Max: f(4)}
	open := journal.Latency{P50: f(5), P99: f(6), P999: f(7), Mean: f(8), Max: f(9)}
	full := journal.Trial{
		ThroughputPerSecond: f(10), LatencySeconds: &open, Phases: []journal.Phase{{Mode: journal.ModeOpen}, {Mode: journal.ModeClosed, LatencySeconds: &closedLoop}},
		Usage: journal.Usage{MeasuredSeconds: 2, CPUSeconds: &journal.CPUSeconds{User: 1, System: 2}, ContextSwitches: &journal.ContextSwitches{Voluntary: 30, Involuntary: 10},
			RunQueueWaitSeconds: f(5), ThreadsMax: new(12), Cgroup: &journal.Cgroup{Periods: 10, ThrottledPeriods: 4}},
		ObservedProcs: []*int{new(3), nil},
		Metrics:       map[string]journal.Metric{"took": {Value: 13}},
	}
	for figure, want := range map[figure]float64{
		throughput: 10, cost: 0.1, p50: 5, p99: 6, p999: 7, closedP99: 2, closedMean: 3, closedMax: 4,
		cpus: 1.5, cpuEach: 0.15, switches: 20, wait: 2.5, "took": 13,
	} {
		if got := figure.value(&full); got == nil || *got != want {
			t.Errorf("%q: %v, want %g", figure, got, want)
		}
		if got := figure.value(&journal.Trial{ObservedProcs: []*int{nil}, Usage: journal.Usage{Cgroup: &journal.Cgroup{}, CPUSeconds: &journal.CPUSeconds{}}}); got != nil {
			t.Errorf("%q of an empty trial: %g", figure, *got)
		}
	}
	full.LatencySeconds = nil
	if got := p50.value(&full); *got != 1 {
		t.Errorf("without an open loop p50 is %g, want the closed one's", *got)
	}
}

// A number of Ps is one, or as many as go with the CPUs, and never none.
func TestPs(t *testing.T) {
	for p, want := range map[ps][2]int{"": {0, 0}, "4": {4, 4}, "n": {1, 3}, "2n": {2, 6}, "n+1": {2, 4}, "n-1": {1, 2}, "n/2": {1, 1}, "r": {1, 1}, "2r": {1, 2}, "4r": {1, 3}} {
		if got := [2]int{p.of(0.5), p.of(2.5)}; got != want {
			t.Errorf("%q: %v of half a CPU and two and a half, want %v", p, got, want)
		}
	}
}

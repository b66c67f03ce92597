package reporttest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/stat"
)

// Typical is a complete sweep of six arms on two CPUs that recommends a value.
func Typical() *stat.Result {
	r := base("cpuserver")
	g := group(r, []int{0, 1, 2, 4, 8, 16}, 6, 8, nil, serverCurve(2))
	g.Recommendation = stat.Recommendation{
		Verdict: stat.Recommended, Procs: ptr(2), Arm: "2",
		Sentence: "Set GOMAXPROCS=2: the smallest value that is as good as the best on throughput and on p99.",
		Reasons: []string{
			"throughput at 2 is within 5 % of the peak, at 95 % confidence",
			"p99 at 2 is no worse than at any other of the values that keep the throughput",
			"unset runs at 8, which loses 6 % of the throughput and triples p99",
		},
	}
	finish(r, g)
	r.Recommendation = &g.Recommendation
	zero := 0
	r.Warnings = []stat.Warning{
		{Code: "shared_machine", Message: "the load generator ran on the target's machine and took 0.42 CPUs at the peak", Fix: "drive from another machine with --load 'ssh box …', or pin both with --server-cpuset and --load-cpuset"},
		{Code: "invalid_trials", Group: &zero, Arm: "16", Message: "1 of 6 trials does not count: the target never became ready", Fix: "read logs/ of that trial"},
	}
	return r
}

// Groups is an unfinished sweep of two quotas and two Go versions with a gate:
// four groups, each with another verdict.
func Groups() *stat.Result {
	r := base("tinyserver")
	r.Complete, r.TrialsRun = false, 71
	verdicts := []stat.Recommendation{
		{Verdict: stat.TradeOff, BestThroughput: "4", BestP99: "1", Sentence: "Throughput wants 4, p99 wants 1: choose."},
		{Verdict: stat.KeepDefault, Procs: ptr(2), Arm: "unset", Sentence: "Keep the default: it runs at 2, the smallest value as good as the best."},
		{Verdict: stat.CannotTell, Sentence: "Cannot tell: the noise floor is above the margin.", Settle: []string{"12 more blocks", "a machine without other load"}},
		{Verdict: stat.NotYourKnob, Sentence: "Not your knob: all values are alike within 5 %, and that is proven."},
	}
	for i, rec := range verdicts {
		quota := []float64{0.5, 2}[i%2]
		g := group(r, []int{0, 1, 2, 4, 8}, 3+3*(i%2), 8, &quota, serverCurve(quota))
		g.GoVersion = []string{"1.24.6", "1.26.8"}[i/2]
		g.Replicas = 4
		rec.Reasons = []string{"as the curves show"}
		g.Recommendation = rec
		finish(r, g)
	}
	r.Gate = &stat.Gate{Kind: "against", Pass: false, Checks: []stat.GateCheck{
		{Arm: "2", Metric: "throughput", Ratio: interval(0.91, 0.88, 0.93, 6), Margin: 0.05, Judged: true, Worse: true, Note: "9 % slower"},
		{Arm: "2", Metric: "p99", Ratio: interval(1.02, 0.97, 1.08, 6), Margin: 0.2, Judged: true, Proven: true},
	}}
	r.Target.Against = []string{"./old", "-addr", ":{port}"}
	return r
}

// Hostile is a Result in which every text tries to be more than text, and every
// number that may be absent or absurd is.
func Hostile() *stat.Result {
	r := Typical()
	evil := "</script></title></svg><script>document.title='owned';alert(1)</script><img src=x onerror=alert(2)>" +
		" `rm -rf` | [a](javascript:alert(3)) \x1b[31mred\x1b[0m\n# heading\n\u202eotni\xff {{.}} {{template \"x\"}} ]]> '\"&amp; ${x} $(reboot)"
	r.Name = evil
	r.Host.CPUModel, r.Host.Kernel, r.Host.Hostname, r.Host.CgroupMode = evil, evil, evil, evil
	r.Tool.Version = evil
	r.Tool.Args = []string{"sweep", "--out", "results/x", "--header", evil, "--", evil, "{port}", "it's"}
	r.Target.Command = []string{"./server", evil, "", "it's", "$HOME", "{port}"}
	r.Target.URL = "javascript:alert(4)//" + evil
	r.Target.Environment = []string{"GOGC=" + evil, evil}
	r.Load.Headers = []string{"Authorization: Bearer secret"}
	r.Warnings = append(r.Warnings, stat.Warning{Code: evil, Message: evil, Fix: evil, Arm: evil})
	g := &r.Groups[0]
	g.ThroughputUnit = evil
	g.Recommendation.Sentence = evil
	g.Recommendation.Reasons = []string{evil}
	g.Workload.Kind = evil
	g.USL = &stat.USL{Lambda: math.NaN(), Sigma: math.Inf(1)}
	for i := range g.Arms {
		a := &g.Arms[i]
		a.Variant = []string{"", evil}[i%2]
		a.Metrics = map[string]stat.MetricInterval{evil: {Interval: interval(1, 2, 3, 6), Unit: evil, Better: evil}}
		for j := range a.Points {
			a.Points[j].InvalidReason = evil
		}
	}
	g.Arms[1].Throughput.Median = ptr(math.NaN())
	g.Arms[2].P99 = stat.Interval{Median: ptr(math.Inf(1)), Low: ptr(0.0), High: ptr(-1.0)}
	g.Arms[3].Throughput = stat.Interval{}
	g.Arms[4].Evidence = stat.Evidence{}
	g.Arms[5].Points = nil
	return r
}

// Gate is a sweep of one setting of two programs: only the gate was asked. Bend
// changes its checks.
func Gate(bend func(*stat.Gate)) *stat.Result {
	r := base("cpuserver")
	r.Target.Against = []string{"./old", "-addr", ":{port}"}
	g := group(r, []int{0}, 6, 2, nil, serverCurve(2))
	old := arm(3, 0, 6, 2, nil, serverCurve(2))
	old.Label, old.Variant = "old unset", "against"
	g.Arms = append(g.Arms, old)
	g.Peak, g.USL = "unset", nil
	g.Recommendation = stat.Recommendation{Verdict: stat.CannotTell, Sentence: "Cannot tell: only one number of Ps was measured, 2.", Settle: []string{"measure at least five values: --procs auto"}}
	finish(r, g)
	r.Recommendation = &g.Recommendation
	r.Gate = &stat.Gate{Kind: "against", Pass: true, Checks: []stat.GateCheck{
		{Arm: "unset", Metric: "throughput", Ratio: interval(1.01, 0.99, 1.02, 6), Margin: 0.05, Judged: true, Proven: true, Note: "1 % faster, proven within the margin of 5 % (n 6)"},
		{Arm: "unset", Metric: "p99", Ratio: interval(1.04, 0.82, 1.31, 6), Margin: 0.2, Judged: true, Note: "cannot tell: 4 % higher, neither worse nor within the margin of 20 % with confidence (n 6); more --repeats would"},
	}}
	bend(r.Gate)
	return r
}

// Invalid is a sweep that ended with its first block, in which no trial was valid.
func Invalid() *stat.Result {
	r := base("cpuserver")
	g := group(r, []int{0, 1, 2, 4, 8}, 1, 8, nil, serverCurve(2))
	for i := range g.Arms {
		a := &g.Arms[i]
		p := stat.Point{Role: "measure", InvalidReason: "the target never became ready"}
		*a = stat.ArmResult{Label: a.Label, Procs: a.Procs, Invalid: 1, InvalidReasons: []stat.ReasonCount{{Reason: p.InvalidReason, Count: 1}}, Points: []stat.Point{p}}
	}
	*g = stat.Group{Replicas: 1, EffectiveCPUs: 2, Arms: g.Arms, Workload: stat.Workload{Kind: "unknown"}}
	g.Recommendation = stat.Recommendation{Verdict: stat.CannotTell, Sentence: "Cannot tell: no trial was valid.", Settle: []string{"mend what made them invalid, then begin anew with another --out"}}
	r.Complete, r.Plan.Blocks, r.TrialsPlanned, r.TrialsRun, r.TrialsInvalid = false, 6, 36, 6, 6
	r.Recommendation = &g.Recommendation
	r.Warnings = []stat.Warning{
		{Code: "invalid_trials", Group: ptr(0), Message: "6 of 6 trials invalid, most often: the target never became ready", Fix: "read their output under logs/"},
		{Code: "incomplete", Message: "only 6 of 36 planned trials are in the journal", Fix: "mend what made the trials invalid, then begin anew with another --out"},
	}
	return r
}

// Benchmarks is a sweep of two Go benchmarks that want different values.
func Benchmarks() *stat.Result {
	r := base("parse")
	r.Target.Kind, r.Target.URL, r.Target.Command = "gobench", "", []string{"go", "test", "-bench", ".", "./parse"}
	r.Load.Connections = 0
	g := group(r, []int{0, 1, 2, 4, 8}, 6, 8, nil, func(p int) (float64, float64) { return 1e6, 0 })
	g.ThroughputUnit, g.LatencyMode, g.RatePerSecond, g.NoiseFloor.P99, g.Detectable.P99 = "operations", "", nil, nil, nil
	for i := range g.Arms {
		a := &g.Arms[i]
		n := float64(*a.ResolvedProcs)
		a.P50, a.P99, a.Evidence.LoadCPUs = stat.Interval{}, stat.Interval{}, nil
		of := map[string]float64{"Large/tree ns/op": 8000 / n, "Small ns/op": 1000 * n, "Small allocs/op": 3}
		for j := range a.Points {
			a.Points[j].P50, a.Points[j].P99, a.Points[j].Metrics = nil, nil, of
		}
		a.Metrics = map[string]stat.MetricInterval{}
		for name, x := range of {
			_, unit, _ := strings.Cut(name, " ")
			a.Metrics[name] = stat.MetricInterval{Interval: interval(x, x*0.98, x*1.01, 6), Unit: unit, Better: "lower"}
		}
	}
	g.Recommendation = stat.Recommendation{Verdict: stat.CannotTell,
		Sentence: "Cannot tell: on average all values are alike, but the benchmarks want different ones: Small ns/op is 700 % higher at 8 (the default) than at 1, at least 650 % (n 6).",
		Reasons:  []string{"not for every figure: Small ns/op is 700 % higher at 8 (the default) than at 1, at least 650 % (n 6)"}, Settle: []string{"sweep the benchmarks apart: -bench with one at a time"}}
	finish(r, g)
	r.Recommendation = &g.Recommendation
	return r
}

// Large is a Result of the given size with one group.
func Large(arms, blocks int) *stat.Result {
	r := base("large")
	procs := make([]int, arms)
	for i := range procs {
		procs[i] = i
	}
	g := group(r, procs, blocks, 24, nil, serverCurve(24))
	g.Recommendation = stat.Recommendation{Verdict: stat.Recommended, Procs: ptr(24), Arm: "24", Sentence: "Set GOMAXPROCS=24.", Reasons: []string{"as the curves show"}}
	finish(r, g)
	r.Recommendation = &g.Recommendation
	return r
}

func base(name string) *stat.Result {
	r := &stat.Result{Schema: stat.ResultSchema, Name: name, Complete: true}
	r.Started = time.Date(2026, 9, 10, 14, 3, 0, 0, time.UTC)
	h := &r.Host
	h.Hostname, h.OS, h.Arch, h.CPUModel = "bench-1", "linux", "amd64", "AMD EPYC 7B13"
	h.CPUs, h.AffinityCPUs, h.EffectiveCPUs = 8, 8, 2
	h.Kernel, h.CgroupMode, h.MemoryBytes = "6.12.41", "v2", 8<<30
	r.Tool.Version, r.Tool.GoVersion = "v0.1.0", "go1.26.8"
	r.Tool.Args = []string{"sweep", "--url", "http://127.0.0.1:{port}/", "--procs", "unset,1,2,4,8,16", "--", "./server", "-addr", ":{port}"}
	t := &r.Target
	t.Kind, t.Command, t.URL = "server", []string{"./server", "-addr", ":{port}"}, "http://127.0.0.1:{port}/"
	t.GoVersion, t.MainModule, t.Environment = "go1.24.6", "example.com/server", []string{"GOGC=200"}
	l := &r.Load
	l.Connections, l.SameMachine, l.DurationSeconds, l.WarmupSeconds, l.ErrorRatioMax = 64, true, 3, 0.5, 0.01
	r.Plan.Seed, r.Plan.Margin, r.Plan.MarginP99 = 42, 0.05, 0.2
	return r
}

// serverCurve is the throughput and p99 of a server on some CPUs: linear up to
// them, then slowly less; the tail grows with the threads that compete.
func serverCurve(cpus float64) func(p int) (rate, p99 float64) {
	return func(p int) (float64, float64) {
		n := float64(p)
		rate := 6400 * min(n, cpus) / (1 + 0.008*max(0, n-cpus))
		return rate, 0.0041 * (1 + 0.4*max(0, n-cpus)) * (1 + 2*max(0, cpus-n)/cpus)
	}
}

// group adds a group whose unset arm (procs 0) runs at resolved.
func group(r *stat.Result, procs []int, blocks, resolved int, quota *float64, curve func(int) (float64, float64)) *stat.Group {
	r.Groups = append(r.Groups, stat.Group{
		QuotaCPUs: quota, Replicas: 1, EffectiveCPUs: 2, ThroughputUnit: "requests", LatencyMode: "open", RatePerSecond: ptr(5900.0),
		NoiseFloor: stat.NoiseFloor{Arm: "unset", Pairs: blocks, Throughput: ptr(0.021), P99: ptr(0.094)},
		Detectable: stat.Detectable{Throughput: ptr(0.034), P99: ptr(0.12)},
		Peak:       "2", Flatness: stat.Flatness{WithinMargin: []string{"2", "4"}, WorstAbove: ptr(0.89)},
		Workload: stat.Workload{Kind: "cpu-bound", CPUUtilisation: ptr(0.94), Arm: "2"},
		USL:      &stat.USL{Lambda: 6400, Sigma: 0.04, Kappa: 0.003, Peak: ptr(17.0), R2: 0.71, Poor: true, Why: "R² of 0.71 is under 0.9"},
	})
	g := &r.Groups[len(r.Groups)-1]
	if quota != nil {
		g.EffectiveCPUs = *quota
	}
	r.Plan.Blocks = blocks
	r.Plan.Arms = slices.Grow(r.Plan.Arms, len(procs))[:len(r.Plan.Arms)+len(procs)]
	for i, p := range procs {
		g.Arms = append(g.Arms, arm(i, p, blocks, resolved, quota, curve))
	}
	first := g.Arms[min(1, len(g.Arms)-1)].Throughput.Median
	for i := range g.Arms {
		g.Arms[i].Speedup = ptr(*g.Arms[i].Throughput.Median / *first)
	}
	return g
}

func arm(i, p, blocks, resolved int, quota *float64, curve func(int) (float64, float64)) stat.ArmResult {
	a := stat.ArmResult{Label: "unset", ResolvedProcs: ptr(resolved), ResolvedSource: "decoded", Trials: blocks}
	n := resolved
	if p > 0 {
		n = p
		a.Label, a.Procs, a.ResolvedProcs = fmt.Sprint(p), ptr(p), ptr(p)
	}
	rate, p99 := curve(n)
	var rates, p50s, p99s []float64
	for b := range blocks {
		e := noise(i*131 + b)
		x, y, z := rate*(1+0.03*e), p99*0.22*(1+0.04*noise(b+i*17)), p99*(1+0.12*noise(b*7+i))
		rates, p50s, p99s = append(rates, x), append(p50s, y), append(p99s, z)
		a.Points = append(a.Points, stat.Point{Block: b, Role: "measure", Valid: true, Throughput: &x, P50: &y, P99: &z})
		if p == 0 {
			x, z := x*1.01, z*0.97
			a.Points = append(a.Points, stat.Point{Block: b, Role: "aa", Valid: true, Throughput: &x, P50: &y, P99: &z})
		}
	}
	if p == 16 && blocks > 1 {
		last := &a.Points[blocks-1]
		last.Valid, last.InvalidReason, last.P50, last.P99 = false, "the target answered errors: 12 % of requests", nil, nil
		*last.Throughput *= 0.6
		a.Trials, a.Invalid = blocks-1, 1
		a.InvalidReasons = []stat.ReasonCount{{Reason: last.InvalidReason, Count: 1}}
	}
	a.Throughput, a.P50, a.P99 = summarise(rates), summarise(p50s), summarise(p99s)
	a.VersusPeak = interval(min(1, rate/12800), rate/12800-0.02, min(1.02, rate/12800+0.02), blocks)
	over := math.Max(0, float64(n)-2)
	a.Evidence = stat.Evidence{
		CPUs: ptr(min(float64(n), 1.58)), CPUUtilisation: ptr(0.94), LoadCPUs: ptr(0.42), VoluntaryPerSecond: ptr(5100 + 300*over), InvoluntaryPerSecond: ptr(210 + 900*over),
		RunQueueWaitRatio: ptr(0.12 + 0.31*over), ThreadsMax: ptr(float64(n) + 4), StealRatio: ptr(0.002),
	}
	if quota != nil {
		t := math.Max(0, 1-*quota/float64(n))
		a.Evidence.ThrottledPeriodsRatio, a.Evidence.ThrottledRatio = ptr(t), ptr(t*0.3)
	}
	return a
}

func finish(r *stat.Result, g *stat.Group) {
	for _, a := range g.Arms {
		r.TrialsPlanned += a.Trials + a.Invalid
		r.TrialsInvalid += a.Invalid
	}
	if r.Complete {
		r.TrialsRun = r.TrialsPlanned
	}
}

// summarise takes the extremes for an interval, as six values do.
func summarise(x []float64) stat.Interval {
	s := slices.Sorted(slices.Values(x))
	i := stat.Interval{Median: ptr((s[(len(s)-1)/2] + s[len(s)/2]) / 2), N: len(s)}
	if len(s) >= 6 {
		i.Low, i.High = ptr(s[0]), ptr(s[len(s)-1])
	}
	return i
}

func interval(median, low, high float64, n int) stat.Interval {
	return stat.Interval{Median: &median, Low: &low, High: &high, N: n}
}

// noise is a fixed sequence in -1 to 1.
func noise(i int) float64 {
	_, f := math.Modf(math.Abs(math.Sin(float64(i)*12.9898)) * 43758.5453)
	return 2*f - 1
}

func ptr[T any](x T) *T { return &x }

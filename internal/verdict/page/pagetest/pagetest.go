// Package pagetest makes Results for the tests of the report: a typical one,
// one of several groups with a gate, one whose every text is hostile, one of the
// largest size, and those that are shown otherwise: a gate alone, benchmarks, none
// valid, a model's. Their trials come from stattest and their judgement from stat, so
// that a golden file shows what a sweep would. The same call gives the same Result.
package pagetest

import (
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/stat"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// Typical is a complete sweep of six settings on two CPUs that recommends a value.
func Typical() *verdict.Result {
	settings := server(2, 8, 1, 2, 4, 8, 16)
	return Analyze("cpuserver", verdicttest.Config{Seed: 4, CPUs: 2, Rate: 5900, Settings: settings, Noise: calm(), Trial: func(t *journal.Trial) {
		if t.Setting.Label == "16" && t.Block == 5 {
			t.Valid, t.InvalidCode, t.InvalidReason = false, journal.InvalidErrors, "the target answered errors: 12% of requests"
			t.LatencySeconds = nil
		}
	}}, nil)
}

// Shared is the built-in program on two CPUs with the load on them: its latency seems
// better with more Ps than CPUs, and that is the arrangement's doing.
func Shared() *verdict.Result {
	settings := []verdicttest.Truth{verdicttest.Unset(2, 11800, .0059), verdicttest.Set(1, 6500, .0082), verdicttest.Set(2, 11800, .0059), verdicttest.Set(4, 11750, .0012), verdicttest.Set(8, 11700, .0016)}
	c := verdicttest.Config{Seed: 5, CPUs: 2, Rate: 5900, Settings: settings, Noise: &verdicttest.Noise{Trial: 0.015, P99: 0.2}}
	return Analyze("cpuserver", c, func(h *journal.Header, trials []journal.Trial) []journal.Trial {
		h.Load.Arrangement, h.Target.CPUs, h.Load.CPUs = new(journal.ArrangementShared), nil, nil
		h.TargetHost.CPUs, h.TargetHost.AffinityCPUs = 2, 2
		h.Target.BuiltIn, h.Target.Command, h.Target.MainModule = "cpuserver", nil, ""
		h.Spec = spec.Spec{Command: "sweep"}
		return trials
	})
}

// Part is a sweep on seven of eight CPUs, the load having the other, that is likely
// and not proven.
func Part() *verdict.Result {
	c := verdicttest.Config{Seed: 8, CPUs: 7, Blocks: 3, Settings: server(7, 7, 2, 4, 5, 7), Noise: &verdicttest.Noise{Trial: 0.03, P99: 0.25}}
	return Analyze("server", c, func(h *journal.Header, trials []journal.Trial) []journal.Trial {
		h.TargetHost.EffectiveCPUs = 8
		return trials
	})
}

// Groups is an unfinished sweep of two quotas and two Go versions with a gate:
// four groups, each with another verdict, and a gate that is not met.
func Groups() *verdict.Result {
	var settings []verdicttest.Truth
	add := func(quota float64, version string, list ...verdicttest.Truth) {
		for _, a := range verdicttest.Quota(quota, list...) {
			a.Setting.GoVersion, a.Setting.Replicas = version, 2
			a.Throttled = math.Max(0, 1-quota/float64(a.Resolved))
			settings = append(settings, a)
		}
	}
	add(0.5, "1.24.6", verdicttest.Unset(8, 1000, .030), verdicttest.Set(1, 880, .010), verdicttest.Set(2, 990, .027), verdicttest.Set(4, 1010, .030), verdicttest.Set(8, 1000, .030))
	add(2, "1.24.6", verdicttest.Unset(2, 12800, .0041), verdicttest.Set(1, 6400, .0082), verdicttest.Set(2, 12800, .0041), verdicttest.Set(4, 12700, .0044), verdicttest.Set(8, 11900, .016))
	add(2, "1.24.6", verdicttest.Against(verdicttest.Set(2, 14200, .0041))...)
	add(0.5, "1.26.8", verdicttest.Unset(2, 800, .030), verdicttest.Set(1, 900, .020), verdicttest.Set(2, 1000, .030), verdicttest.Set(4, 990, .040), verdicttest.Set(8, 980, .050))
	add(2, "1.26.8", alike(2, 1, 2, 4, 8)...)
	c := verdicttest.Config{Seed: 7, Settings: settings, Gate: true, Noise: &verdicttest.Noise{Trial: 0.008, P99: 0.05}}
	return Analyze("tinyserver", c, func(_ *journal.Header, trials []journal.Trial) []journal.Trial { return trials[:len(trials)-9] })
}

func alike(resolved int, procs ...int) []verdicttest.Truth {
	settings := []verdicttest.Truth{verdicttest.Unset(resolved, 5000, .02)}
	for _, p := range procs {
		settings = append(settings, verdicttest.Set(p, 5000, .02))
	}
	return settings
}

// Gate is a sweep of one setting of two programs: only the gate was asked. It passes;
// bend changes its checks.
func Gate(bend func(*verdict.Gate)) *verdict.Result {
	settings := []verdicttest.Truth{verdicttest.Unset(2, 12900, .0042)}
	settings = append(settings, verdicttest.Against(verdicttest.Unset(2, 12800, .0041))...)
	c := verdicttest.Config{Seed: 3, CPUs: 2, Rate: 5900, Settings: settings, Gate: true, Noise: &verdicttest.Noise{Trial: 0.01, P99: 0.2}}
	r := Analyze("cpuserver", c, nil)
	bend(r.Gate)
	return r
}

// Invalid is a sweep that ended with its first block, in which no trial was valid.
func Invalid() *verdict.Result {
	c := verdicttest.Config{Seed: 1, CPUs: 2, Settings: server(2, 8, 1, 2, 4, 8), Trial: func(t *journal.Trial) {
		*t = journal.Trial{Kind: t.Kind, Setting: t.Setting, Role: t.Role, Origin: t.Origin, Block: t.Block, Order: t.Order, Started: t.Started,
			InvalidCode: journal.InvalidNeverReady, InvalidReason: "the target never became ready"}
	}}
	return Analyze("cpuserver", c, func(_ *journal.Header, trials []journal.Trial) []journal.Trial { return trials[:6] })
}

// Benchmarks is a sweep of two Go benchmarks that want different values.
func Benchmarks() *verdict.Result {
	c := verdicttest.Config{Seed: 2, Mode: journal.ModeBatch, Settings: alike(8, 1, 2, 4, 8), Noise: &verdicttest.Noise{Trial: 0.01}, Trial: func(t *journal.Trial) {
		n, noise := float64(*t.ObservedProcs[0]), *t.ThroughputPerSecond/5000
		t.ThroughputUnit, t.ThroughputPerSecond = "operations", new(1e6*noise)
		t.Metrics = map[string]journal.Metric{
			"Large/tree ns/op": {Value: 8000 / n / noise, Unit: "ns/op", Better: "lower"},
			"Small ns/op":      {Value: 1000 * n / noise, Unit: "ns/op", Better: "lower"},
			"Small allocs/op":  {Value: 3, Unit: "allocs/op", Better: "lower"},
		}
	}}
	return Analyze("parse", c, func(h *journal.Header, trials []journal.Trial) []journal.Trial {
		h.Target.Kind, h.Target.URL, h.Target.Command = journal.KindGoBench, "", []string{"go", "test", "-bench", ".", "./parse"}
		return trials
	})
}

// Large is a Result of the given size with one group.
func Large(settings, blocks int) *verdict.Result {
	procs := make([]int, settings-1)
	for i := range procs {
		procs[i] = i + 1
	}
	return Analyze("large", verdicttest.Config{Seed: 6, CPUs: 24, Blocks: blocks, Settings: server(24, 24, procs...), Noise: calm()}, nil)
}

func calm() *verdicttest.Noise { return &verdicttest.Noise{Trial: 0.015, P99: 0.06} }

// server is the throughput and p99 of a server on some CPUs: linear up to them, then
// slowly less; the tail grows with the threads that compete.
func server(cpus float64, resolved int, procs ...int) []verdicttest.Truth {
	at := func(p int) (rate, p99 float64) {
		n := float64(p)
		rate = 6400 * min(n, cpus) / (1 + 0.008*max(0, n-cpus))
		return rate, 0.0041 * (1 + 0.4*max(0, n-cpus)) * (1 + 2*max(0, cpus-n)/cpus)
	}
	rate, p99 := at(resolved)
	settings := []verdicttest.Truth{verdicttest.Unset(resolved, rate, p99)}
	for _, p := range procs {
		rate, p99 := at(p)
		settings = append(settings, verdicttest.Set(p, rate, p99))
	}
	return settings
}

// Analyze generates the trials of a server's sweep on a machine of eight CPUs that
// is limited to those of the Config.
func Analyze(name string, c verdicttest.Config, bend func(*journal.Header, []journal.Trial) []journal.Trial) *verdict.Result {
	h, trials := verdicttest.Generate(c)
	h.Name = name
	m := &h.TargetHost
	m.Hostname, m.CPUModel, m.CPUs, m.AffinityCPUs = "bench-1", "AMD EPYC 7B13", max(8, m.CPUs), max(8, m.AffinityCPUs)
	m.Kernel, m.MemoryBytes = "6.12.41", 8<<30
	h.Tool = journal.Tool{Version: "v0.1.0", GoVersion: "go1.26.8"}
	h.Spec = spec.Spec{Command: "sweep", Program: []string{"./server", "-addr", ":{port}"}}.With(spec.Set("url", "http://127.0.0.1:{port}/"), spec.Set("procs", "default"))
	seen := map[int]bool{}
	for _, a := range c.Settings {
		if p := a.Setting.Procs; p != nil && !seen[*p] {
			seen[*p] = true
			h.Spec.Set[1].Texts[0] += "," + strconv.Itoa(*p)
		}
	}
	h.Target.GoVersion, h.Target.MainModule, h.Target.Environment = "go1.24.6", "example.com/server", []string{"GOGC=200"}
	if c.Mode != journal.ModeBatch {
		h.Load.Arrangement, h.Target.CPUs, h.Load.CPUs = new(journal.ArrangementApart), nil, cpuset.Set{c.CPUs}
		for i := range c.CPUs {
			h.Target.CPUs = append(h.Target.CPUs, i)
		}
	}
	h.Plan.Seed = 42
	if bend != nil {
		trials = bend(&h, trials)
	}
	r := verdict.Analyze(h, trials)
	r.Folder = "results/" + name + "-20260105-101500"
	return r
}

// CanaryContents is a canary's journal: 1 next to the control, and in a second round 2.
// At 1 the program takes a fifth less CPU time a request; at 2 it is as unset, since
// that is what unset comes to.
func CanaryContents() *journal.Contents {
	const slices = 8
	started := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	c := &journal.Contents{Header: journal.Header{
		Name: "api", Started: started, Tool: journal.Tool{Version: "v0.9.0", GoVersion: "go1.26.1"},
		Spec:   spec.Spec{Command: "kube canary", Operands: []string{"deployment/api"}},
		Target: journal.Target{Kind: journal.KindService, Object: "deployment/api", Namespace: "shop", Container: "app"}, TargetHost: journal.Host{Hostname: "node1", CPUs: 8, OS: "linux", Arch: "amd64", Kernel: "6.12.9"},
		Load: journal.Load{DurationSeconds: 60 * slices, WarmupSeconds: 30}, Plan: journal.Plan{MarginP99: 0.2},
		Canary: &journal.Canary{
			Services: []journal.Service{{Name: "api", Endpoints: 18}}, Counting: []journal.Counter{{Kind: "HorizontalPodAutoscaler", Name: "api", Effect: journal.EffectMean}},
			Rounds: [][]journal.Setting{{canary.SettingOf(nil), canary.SettingOf(new(1))}, {canary.SettingOf(nil), canary.SettingOf(new(2))}},
			Share:  0.1, SliceSeconds: 60, Prometheus: "http://prometheus:9090",
			Queries: []journal.Query{{Name: canary.Requests, Text: `sum(increase(http_requests_total{pod=~"$pods"}[$slice]))`}, {Name: "p99", Text: `slow{pod=~"$pods"}`}},
		},
	}, End: &journal.End{Code: journal.EndComplete}}
	for _, settings := range c.Header.Canary.Rounds {
		for j := range settings {
			settings[j].QuotaCPUs = new(2.0)
		}
		first := len(c.Trials)
		for i := range slices {
			at := first/len(settings) + i
			for j, a := range settings {
				wobble := 1 + 0.02*math.Sin(float64(3*at+5*j))
				requests, each, procs := 1200*(1+0.5*math.Sin(float64(at)))+60, 0.0002*wobble, 2
				if a.Label == "1" {
					each, procs = 0.8*each, 1
				}
				c.Trials = append(c.Trials, journal.Trial{
					Setting: a, Block: at, Started: started.Add(time.Duration(at) * time.Minute), DurationSeconds: 60, Pods: []journal.Pod{{Name: "procfit-abcdefgh-1"}}, ObservedProcs: []*int{&procs},
					Metrics: map[string]journal.Metric{canary.Requests: {Value: requests}, "p99": {Value: 0.021 * wobble}, canary.FigureSched: {Value: 0.0004 * wobble}},
					Usage: journal.Usage{
						MeasuredSeconds: 60, CPUSeconds: &journal.CPUSeconds{User: requests * each}, RunQueueWaitSeconds: new(requests * each / 9),
						Cgroup: &journal.Cgroup{Periods: 600, ThrottledPeriods: int64(2 + i)},
					},
				})
			}
		}
	}
	return c
}

// Canary is what it comes to.
func Canary() *verdict.Result { return canary.Analyze(CanaryContents()) }

// Hostile is a Result in which every text tries to be more than text, and every
// number that may be absent or absurd is.
func Hostile() *verdict.Result {
	r := Typical()
	evil := "</script></title></svg><script>document.title='owned';alert(1)</script><img src=x onerror=alert(2)>" +
		" `rm -rf` | [a](javascript:alert(3)) \x1b[31mred\x1b[0m\n# heading\n\u202eotni\xff {{.}} {{template \"x\"}} ]]> '\"&amp; ${x} $(reboot)"
	r.Name = evil
	r.Host.CPUModel, r.Host.Kernel, r.Host.Hostname, r.Host.CgroupMode = evil, evil, evil, evil
	r.Tool.Version = evil
	r.Spec = spec.Spec{Command: "sweep", Program: []string{evil, "{port}", "it's"}}.With(spec.Set("out", "results/x"), spec.Set("header", evil))
	r.Target.Command = []string{"./server", evil, "", "it's", "$HOME", "{port}"}
	r.Target.URL = "javascript:alert(4)//" + evil
	r.Target.Environment = []string{"GOGC=" + evil, evil}
	for _, x := range []verdict.Remark{
		Unworded(evil), verdict.InvalidTrials{Invalid: verdict.Invalid{Reason: evil}}, verdict.SentLate{Settings: []verdict.LateTrials{{Label: evil}}},
		verdict.TrialWarnings{First: &journal.Warning{Code: journal.WarnCounters, Detail: evil}}, verdict.TrialWarnings{First: &journal.Warning{Code: journal.WarningCode(evil), Detail: evil}},
	} {
		r.Warnings = append(r.Warnings, verdict.Warning{Remark: x})
	}
	g := &r.Groups[0]
	g.ThroughputUnit = evil
	g.Recommendation.Verdict = verdict.Undecided
	g.Recommendation.Claim = nil
	g.Recommendation.Next = []verdict.Step{{Code: verdict.StepCode(evil)}}
	setting := &contest.Value{Setting: evil, Procs: -1}
	g.Recommendation.Reasons = append(g.Recommendation.Reasons,
		Unworded("-1 has no valid block in common with the best"),
		verdict.ReasonMetricWorse{Metric: evil, Bounded: verdict.Bounded{Difference: verdict.Difference{Pair: verdict.Pair{Of: setting, Than: setting}}}})
	g.Workload.Kind = evil
	spoil(g.Settings, evil)
	spoil(g.Rows, evil)
	return r
}

// Unworded is a remark that no page has words for.
type Unworded string

func (x Unworded) Code() verdict.Code { return verdict.Code(x) }

// spoil is done to a group's settings, and to its rows, which are what a page shows.
func spoil(settings []verdict.Row, evil string) {
	for i := range settings {
		a := &settings[i]
		a.Variant = []string{"", evil}[i%2]
		a.Metrics = map[string]verdict.MetricInterval{evil: {Interval: stat.Interval{Median: new(1.0), Low: new(2.0), High: new(3.0), N: 6}, Unit: evil, Better: evil}}
		a.Excluded = []*contest.Excluded{nil, nil, new(contest.Excluded(evil))}[i%3]
		for j := range a.Points {
			a.Points[j].InvalidReason = evil
		}
	}
	settings[1].Throughput.Median = nil
	settings[2].P99 = stat.Interval{Low: new(0.0), High: new(-1.0)}
	settings[3].Throughput = stat.Interval{}
	settings[4].Evidence = verdict.Evidence{}
	settings[0].Points = nil
}

// Flat is a sweep of a program that allocates so much that its number of Ps hardly
// matters, next to a neighbour, on a machine of two nodes of memory.
func Flat() *verdict.Result {
	c := verdicttest.Config{Seed: 6, CPUs: 8, Settings: alike(8, 1, 2, 4, 8), Noise: &verdicttest.Noise{Trial: 0.004, P99: 0.02}, Trial: func(t *journal.Trial) {
		procs := float64(*t.ObservedProcs[0])
		t.Memory = &journal.Memory{RSSBytes: new(int64(96 << 20)), PeakRSSBytes: 128<<20 + int64(procs)<<20}
		t.GC = &journal.GC{Cycles: 125, PauseSeconds: 0.03, HeapBytes: 90 << 20, SpanSeconds: 1.5, CPUSeconds: new(0.18 * procs), BusySeconds: new(procs)}
		t.BesideCPUSeconds = new(0.25 * t.MeasuredSeconds)
	}}
	return Analyze("server", c, func(h *journal.Header, trials []journal.Trial) []journal.Trial {
		h.TargetHost.Topology = &journal.Topology{Sockets: 2, Cores: 4, ThreadsPerCore: 2, Nodes: []journal.Node{{ID: 0, CPUs: cpuset.Set{0, 1, 4, 5}}, {ID: 1, CPUs: cpuset.Set{2, 3, 6, 7}}}}
		h.Target.ServerCPUs, h.Target.Beside = nil, &journal.Beside{Command: []string{"./proxy", "-upstream", "127.0.0.1:{port}"}, QuotaCPUs: new(0.5)}
		return trials
	})
}

// LiveContents is a live experiment's journal: 1 takes a fifth less CPU time per request than
// 2, the value at start, and 4 was left twice.
func LiveContents() *journal.Contents {
	const blocks = 30
	started := time.Date(2026, 3, 2, 9, 10, 0, 0, time.UTC)
	h := journal.Header{
		Name: "process 4711", Started: started, Tool: journal.Tool{Version: "v0.9.0", GoVersion: "go1.26.1"},
		Spec:   spec.Spec{Command: "live", Operands: []string{"/run/app/procfit.sock"}}.With(spec.Set("procs", "1,4")),
		Target: journal.Target{Kind: journal.KindLive, GoVersion: "go1.26.8"}, TargetHost: journal.Host{Hostname: "node1", CPUs: 8, EffectiveCPUs: 8, OS: "linux", Arch: "amd64", Kernel: "6.12.9"},
		Load: journal.Load{DurationSeconds: 1800}, Plan: journal.Plan{Margin: 0.05, MarginP99: 0.2, Seed: 7, Settings: live.Settings(2, []int{1, 4}, false)},
		Live: &journal.Live{SizedAtStart: []string{"github.com/redis/go-redis/v9 (connections of its pools)"},
			PID: 4711, Unit: "request", Start: 2, LimitCPUs: 2, LatencyBy: live.ByArrival, SliceSeconds: 5, BurnInSeconds: 2, BaselineSeconds: 60,
			SlowSeconds: 0.1, Budget: 500, InSystemMax: 44.6, RequestsPerSecond: 400, CPUs: 0.9,
		},
	}
	c := &journal.Contents{Header: h, End: &journal.End{Code: journal.EndDecided, Time: started.Add(30 * time.Minute)}}
	for block := -2; block < blocks; block++ {
		for order, s := range h.Plan.Settings {
			if block < 0 && order > 0 || order == 2 && block > 1 {
				continue // the baseline is of the value at start, and 4 is out
			}
			at := float64(3*block + 7*order)
			wobble, requests := 1+0.01*math.Sin(at), uint64(2000+400*math.Sin(float64(block)))
			each := 0.002 * wobble
			if order == 1 {
				each *= 0.8
			}
			t := journal.Trial{
				Kind: journal.KindTrial, Setting: s, Role: journal.RoleMeasure, Origin: journal.OriginLive, Block: block, Order: order, Started: started, DurationSeconds: 7, Valid: true, ObservedProcs: []*int{s.Procs},
				Usage: journal.Usage{MeasuredSeconds: 5},
				Live:  &journal.Slice{Before: 2, BurnInSeconds: 2, Requests: requests, CPUSeconds: each * float64(requests), P50Seconds: new(0.004 * wobble), P99Seconds: new(0.021 * wobble), InSystemMax: 40},
			}
			switch {
			case block < 0:
				t.Role, t.Block = journal.RolePilot, block+2
			case order == 2:
				t.Valid, t.InvalidCode, t.DurationSeconds, t.MeasuredSeconds = false, journal.InvalidLeft, 0.63, 0
				t.Live = &journal.Slice{Before: 2, BurnInSeconds: 2, InSystemMax: 244.3}
			}
			c.Trials = append(c.Trials, t)
		}
	}
	return c
}

// Example is a remark of a type with something in each of its fields, which can be set: two in
// numbers, that text, all its flags or none.
func Example(of reflect.Type, text string, flags bool) reflect.Value {
	v := reflect.New(of).Elem()
	Fill(v, 2, text, flags)
	return v
}

// Fill puts n into every number of a value, the text into every other one, and two into every list.
func Fill(v reflect.Value, n int, text string, flags bool) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(flags)
	case reflect.String:
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(n))
	case reflect.Float64:
		v.SetFloat(float64(n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		Fill(v.Elem(), n, text, flags)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		Fill(v.Index(0), n, text, flags)
		Fill(v.Index(1), n+1, text, flags)
	case reflect.Array:
		Fill(v.Index(0), n, text, flags)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		Fill(key, n, text, flags)
		Fill(value, n, text, flags)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if at, is := v.Addr().Interface().(*time.Time); is {
			*at = time.Unix(int64(n), 0)
			return
		}
		if value, is := v.Addr().Interface().(*contest.Value); is { // which is its name and its levels here
			level := stat.Interval{Median: new(float64(n)), N: n}
			*value = contest.Value{Setting: text, Procs: n, Default: flags, Throughput: level, P99: level}
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				Fill(v.Field(i), n, text, flags)
			}
		}
	default:
		panic("a field of a kind that no test fills: " + v.Kind().String())
	}
}

// Varied is a sweep of GOMAXPROCS and GOGC, whose program can use two Ps and is slowed down
// by its collector, within a bound on memory; of one that ended early the first trials.
func Varied(trials int) *verdict.Result {
	h := verdicttest.Varied(journal.Axis{Name: "GOGC", Values: []string{"50", "100", "200", "off"}, Start: "100"})
	h.Plan.MaxMemoryBytes = 512 << 20
	collects := map[string]float64{"50": 0.6, "100": 0.8, "200": 1, "off": 1.2}
	heaps := map[string]int64{"50": 50 << 20, "100": 70 << 20, "200": 110 << 20, "off": 900 << 20}
	return verdict.Analyze(h, verdicttest.Race(h, func(procs int, v map[string]string) (float64, int64) {
		return 100 * float64(min(procs, 2)) * collects[v["GOGC"]], heaps[v["GOGC"]]
	}, 1, trials))
}

// Sliced is a sweep of a server that slices of one start begin, whose throughput grows up to three
// Ps. Where three are set at the start it is this part of what it is where they are set later.
func Sliced(part float64) *verdict.Result {
	world := func(part float64) verdicttest.World {
		return func(procs int, _ map[string]string) (float64, int64) {
			return []float64{30, 60, 99 * part, 100}[procs-1], 50 << 20
		}
	}
	h, trials, slices := verdicttest.Sliced(world(1), world(part), 1)
	return verdict.Analyze(h, trials, slices...)
}

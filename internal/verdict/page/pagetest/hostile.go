package pagetest

import (
	"math"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// Hostile is a Result in which every text tries to be more than text, and every
// number that may be absent or absurd is.
func Hostile() *verdict.Result {
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
	one := []verdict.SettingFigure{{Label: evil, Value: math.NaN(), Limit: math.Inf(1)}}
	r.Warnings = append(r.Warnings,
		verdict.Warning{Code: verdict.WarningCode(evil), Setting: evil, Settings: one},
		verdict.Warning{Code: verdict.WarnInvalid, Reason: evil},
		verdict.Warning{Code: verdict.WarnSendLag, Settings: one},
		verdict.Warning{Code: verdict.WarnTrials, Trial: &journal.Warning{Code: journal.WarnCounters, Detail: evil}},
		verdict.Warning{Code: verdict.WarnTrials, Trial: &journal.Warning{Code: journal.WarningCode(evil), Detail: evil}})
	g := &r.Groups[0]
	g.ThroughputUnit = evil
	g.Recommendation.Verdict = verdict.CannotTell
	g.Recommendation.Claim = verdict.Reason{Code: verdict.ReasonCode(evil)}
	g.Recommendation.Settle = []verdict.Step{{Code: verdict.StepCode(evil)}}
	setting := &verdict.Value{Setting: evil, Procs: -1, Throughput: new(math.Inf(1)), P99: new(math.NaN())}
	g.Recommendation.Reasons = append(g.Recommendation.Reasons,
		verdict.Reason{Code: verdict.ReasonCode(evil), Of: setting, Than: setting, Metric: evil},
		verdict.Reason{Code: verdict.ReasonMetricWorse, Of: setting, Than: setting, Metric: evil, Change: math.NaN()})
	g.Workload.Kind = evil
	g.USL = &verdict.USL{Lambda: math.NaN(), Sigma: math.Inf(1)}
	spoil(g.Settings, evil)
	spoil(g.Rows, evil)
	return r
}

// spoil is done to a group's settings, and to its rows, which are what a View shows.
func spoil(settings []verdict.SettingResult, evil string) {
	for i := range settings {
		a := &settings[i]
		a.Variant = []string{"", evil}[i%2]
		a.Metrics = map[string]verdict.MetricInterval{evil: {Interval: interval(1, 2, 3, 6), Unit: evil, Better: evil}}
		a.Excluded = []*verdict.ExcludedCode{nil, nil, new(verdict.ExcludedCode(evil))}[i%3]
		for j := range a.Points {
			a.Points[j].InvalidReason = evil
		}
	}
	settings[1].Throughput.Median = new(math.NaN())
	settings[2].P99 = verdict.Interval{Median: new(math.Inf(1)), Low: new(0.0), High: new(-1.0)}
	settings[3].Throughput = verdict.Interval{}
	settings[4].Evidence = verdict.Evidence{}
	settings[0].Points = nil
}

// Flat is a sweep of a program that allocates so much that its number of Ps hardly
// matters, beside a neighbour, on a machine of two nodes of memory.
func Flat() *verdict.Result {
	c := verdicttest.Config{Seed: 6, CPUs: 8, Settings: alike(8, 1, 2, 4, 8), Noise: &verdicttest.Noise{Trial: 0.004, P99: 0.02}, Trial: func(t *journal.Trial) {
		procs := float64(*t.ObservedProcs[0])
		t.Memory = &journal.Memory{RSSBytes: new(int64(96 << 20)), PeakRSSBytes: 128<<20 + int64(procs)<<20}
		t.GC = &journal.GC{Cycles: 125, PauseSeconds: 0.03, HeapBytes: 90 << 20, SpanSeconds: 1.5, CPUSeconds: new(0.18 * procs), BusySeconds: new(procs)}
		t.BesideCPUSeconds = new(0.25 * t.MeasuredSeconds)
	}}
	return analyze("server", c, func(h *journal.Header, trials []journal.Trial) []journal.Trial {
		h.TargetHost.Topology = &journal.Topology{Sockets: 2, Cores: 4, ThreadsPerCore: 2, Nodes: []journal.Node{{ID: 0, CPUs: cpuset.Set{0, 1, 4, 5}}, {ID: 1, CPUs: cpuset.Set{2, 3, 6, 7}}}}
		h.Target.ServerCPUs, h.Target.Beside = nil, &journal.Beside{Command: []string{"./proxy", "-upstream", "127.0.0.1:{port}"}, QuotaCPUs: new(0.5)}
		return trials
	})
}

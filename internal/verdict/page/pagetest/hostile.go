package pagetest

import (
	"math"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
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

package reporttest

import (
	"math"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/stat"
)

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
	one := []stat.ArmFigure{{Label: evil, Value: math.NaN(), Limit: math.Inf(1)}}
	r.Warnings = append(r.Warnings,
		stat.Warning{Code: stat.WarningCode(evil), Arm: evil, Arms: one},
		stat.Warning{Code: stat.WarnInvalid, Reason: evil},
		stat.Warning{Code: stat.WarnSendLag, Arms: one},
		stat.Warning{Code: stat.WarnTrials, Trial: &journal.Warning{Code: journal.WarnLegacy, Detail: evil}},
		stat.Warning{Code: stat.WarnTrials, Trial: &journal.Warning{Code: journal.WarningCode(evil), Detail: evil}})
	g := &r.Groups[0]
	g.ThroughputUnit = evil
	g.Recommendation.Verdict = stat.CannotTell
	g.Recommendation.Claim = stat.Reason{Code: stat.ReasonCode(evil)}
	g.Recommendation.Settle = []stat.Step{{Code: stat.StepCode(evil)}}
	setting := &stat.Setting{Arm: evil, Procs: -1, Throughput: new(math.Inf(1)), P99: new(math.NaN())}
	g.Recommendation.Reasons = append(g.Recommendation.Reasons,
		stat.Reason{Code: stat.ReasonCode(evil), Of: setting, Than: setting, Metric: evil},
		stat.Reason{Code: stat.ReasonMetricWorse, Of: setting, Than: setting, Metric: evil, Change: math.NaN()})
	g.Workload.Kind = evil
	g.USL = &stat.USL{Lambda: math.NaN(), Sigma: math.Inf(1)}
	spoil(g.Arms, evil)
	spoil(g.Rows, evil)
	return r
}

// spoil is done to a group's arms, and to its rows, which are what a View shows.
func spoil(arms []stat.ArmResult, evil string) {
	for i := range arms {
		a := &arms[i]
		a.Variant = []string{"", evil}[i%2]
		a.Metrics = map[string]stat.MetricInterval{evil: {Interval: interval(1, 2, 3, 6), Unit: evil, Better: evil}}
		a.Excluded = []*stat.ExcludedCode{nil, nil, new(stat.ExcludedCode(evil))}[i%3]
		for j := range a.Points {
			a.Points[j].InvalidReason = evil
		}
	}
	arms[1].Throughput.Median = new(math.NaN())
	arms[2].P99 = stat.Interval{Median: new(math.Inf(1)), Low: new(0.0), High: new(-1.0)}
	arms[3].Throughput = stat.Interval{}
	arms[4].Evidence = stat.Evidence{}
	arms[0].Points = nil
}

package verdict

import (
	"maps"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// better, of a metric, as journals write it.
const (
	betterHigher = "higher"
	betterLower  = "lower"
)

// isPart reports whether the throughput is a mean of which the metric is a part.
func (g *group) isPart(metric string) bool {
	return g.unit() == "operations" && strings.HasSuffix(metric, timed)
}

// metricLosses are the metrics that the program printed and that are proven worse at one value
// than at another. It compares a value with the default in each metric, and with the
// best for that metric, which may be any of the others. Many are looked at, and any may come to a
// warning, so the error of 5% is shared among all (Bonferroni); hence Student's t, whose bounds
// exist at any level.
func (g *group) metricLosses(chosen *contest.Value) (losses []ReasonMetricWorse) {
	all := map[string]journal.Metric{}
	for _, t := range g.measuredIn(g.measured()) {
		for name, m := range t.Metrics {
			judged := name == g.unit() || "1/"+name == g.unit()
			if t.Valid && !judged && (m.Better == betterHigher || m.Better == betterLower) {
				all[name] = m
			}
		}
	}
	alpha := 0.05 / float64(max(1, len(all)*(len(g.Values)-1)))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		of, lower := metricOf(name), all[name].Better == betterLower
		sign, as := -1.0, contest.Loss
		if lower {
			sign, as = 1, contest.Growth
		}
		for _, other := range []*contest.Value{g.DefaultValue(), g.bestFor(of, lower)} {
			if other == nil || other == chosen {
				continue
			}
			d := differences(of, chosen.Trials, other.Trials)
			low, high := stat.Student(d, alpha)
			mid, bound := sign*stat.Mean(d), min(sign*low, sign*high) // the loss, a logarithm above 0, and its lower bound
			if bound > as(g.header.Plan.Margin) && mid > as(g.metricFloor(of)) {
				losses = append(losses, ReasonMetricWorse{name, Bounded{Difference{Pair{chosen, other}, expm1(sign * mid), len(d)}, expm1(sign * bound)}})
				break
			}
		}
	}
	return losses
}

func metricOf(name string) figure {
	return func(t *journal.Trial) *float64 {
		if m, ok := t.Metrics[name]; ok {
			return &m.Value
		}
		return nil
	}
}

func (g *group) bestFor(metric figure, lower bool) (best *contest.Value) {
	top := 0.0
	for _, v := range g.Values {
		median := g.firstMedian(v, metric)
		if median != nil && (best == nil || *median > top == !lower && *median != top) {
			best, top = v, *median
		}
	}
	return best
}

// firstMedian is that of the first setting that has any value; nil where none has.
func (g *group) firstMedian(v *contest.Value, metric figure) *float64 {
	for _, a := range v.Settings {
		if list := contest.Figures(g.Measured(a), metric); len(list) > 0 {
			return new(stat.Middle(list))
		}
	}
	return nil
}

// qualify takes a verdict's plainness away where a metric is proven worse at the
// value that it names. Where the throughput is a mean of benchmarks that want
// different values, equal averages prove nothing of any of them.
func (g *group) qualify(rec *Recommendation) (losses []ReasonMetricWorse) {
	chosen := g.recommended(rec)
	if chosen == nil || g.Best == nil {
		return nil
	}
	losses = g.metricLosses(chosen)
	for i, x := range losses {
		rec.Reasons = slices.Insert(rec.Reasons, i, Remark(x))
	}
	if (rec.Verdict == NoDifference || !g.Worse(chosen)) && slices.ContainsFunc(losses, func(x ReasonMetricWorse) bool { return g.isPart(x.Metric) }) {
		rec.withhold(CauseBenchmarksDiffer{}, StepBenchmarksApart)
	}
	return losses
}

// MetricsWorse are metrics that are proven worse at the value that the verdict names.
type MetricsWorse struct {
	AtSetting
	Losses []ReasonMetricWorse
}

func (MetricsWorse) Code() Code { return "metric_worse" }

// timed is how a benchmark's time of an operation is called in a journal.
const timed = " ns/op"

// timed are the metrics of trials that are the times of Go benchmarks.
func (g *group) timed(trials []*journal.Trial) (names []string) {
	for _, t := range trials {
		for name, m := range t.Metrics {
			if m.Unit == "ns/op" && g.isPart(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// benchmarks are nil where fewer than two were timed, or nothing can be compared.
func (g *group) benchmarks(losses []ReasonMetricWorse) *Benchmarks {
	names := g.timed(g.measuredIn(g.measured()))
	if len(names) < 2 || len(g.Values) == 0 {
		return nil
	}
	b := &Benchmarks{Base: max(0, slices.IndexFunc(g.Values, func(v *contest.Value) bool { return v.Default }))}
	for _, v := range g.Values {
		b.Procs = append(b.Procs, v.Procs)
	}
	// The error of 5% is shared among the two bounds of every comparison.
	alpha := 0.05 / float64(2*max(1, (len(names)+1)*(len(g.Values)-1)))
	for _, name := range names {
		of := func(t *journal.Trial) *float64 { return stat.Scaled(metricOf(name)(t), 1e-9) }
		one := Benchmark{Name: strings.TrimSuffix(name, timed), Times: g.times(b.Base, of, alpha)}
		for _, x := range losses {
			if x.Metric == name {
				one.Wants = new(x.Than.Procs)
			}
		}
		b.List = append(b.List, one)
	}
	b.Mean = g.times(b.Base, func(t *journal.Trial) *float64 { return stat.Inverse(t.ThroughputPerSecond) }, alpha)
	return b
}

// times are those of an operation at each value, compared with the base block by block.
func (g *group) times(base int, of figure, alpha float64) []BenchmarkTime {
	var list []BenchmarkTime
	for i, v := range g.Values {
		t := BenchmarkTime{Setting: v.Setting, Seconds: stat.Median(contest.Figures(v.Trials, of))}
		if d := differences(of, v.Trials, g.Values[base].Trials); i != base && len(d) > 0 {
			mid, low, high := stat.SignedRanks(d, alpha)
			t.VersusBase = stat.OfLogs(mid, low, high, len(d))
			t.Differs = low > 0 || high < 0
		}
		list = append(list, t)
	}
	return list
}

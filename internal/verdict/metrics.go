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

// metricLoss is a metric that the program printed, proven worse at one value
// than at another.
type metricLoss struct {
	ReasonMetricWorse
	part bool // of what the throughput is the mean of
}

// metricLosses compares a value with the default in each metric, and with the
// best for that metric. Many are looked at, and any may come to a warning, so the
// error of 5% is shared among all (Bonferroni); hence Student's t, whose bounds
// exist at any level.
func (g *group) metricLosses(chosen *contest.Value) []metricLoss {
	all := map[string]journal.Metric{}
	for _, t := range g.measuredIn(g.measured()) {
		for name, m := range t.Metrics {
			judged := name == g.unit() || "1/"+name == g.unit()
			if t.Valid && !judged && (m.Better == betterHigher || m.Better == betterLower) {
				all[name] = m
			}
		}
	}
	alpha := 0.05 / float64(2*max(1, len(all)))
	var losses []metricLoss
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
				worse := ReasonMetricWorse{name, Bounded{Difference{Pair{chosen, other}, expm1(sign * mid), len(d)}, expm1(sign * bound)}}
				losses = append(losses, metricLoss{worse, g.unit() == "operations" && all[name].Unit == "ns/op"})
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
func (g *group) qualify(rec *Recommendation) (losses []metricLoss) {
	chosen := g.recommended(rec)
	if chosen == nil || g.Best == nil {
		return nil
	}
	losses = g.metricLosses(chosen)
	if len(losses) == 0 {
		return nil
	}
	var worse []Remark
	for i := range losses {
		worse = append(worse, losses[i].ReasonMetricWorse)
	}
	rec.Reasons = append(worse, rec.Reasons...)
	if (rec.Verdict == NoDifference || !g.Worse(chosen)) && slices.ContainsFunc(losses, func(l metricLoss) bool { return l.part }) {
		rec.Verdict, rec.Confidence, rec.Setting, rec.Procs, rec.Versus = Undecided, "", "", nil, nil
		rec.because(CauseBenchmarksDiffer{}, StepBenchmarksApart)
	}
	return losses
}

// MetricsWorse are metrics that are proven worse at the value that the verdict names.
type MetricsWorse struct {
	AtSetting
	Losses []ReasonMetricWorse
}

func (MetricsWorse) Code() Code { return "metric_worse" }

func (n *notes) metrics(i int, losses []metricLoss) {
	if len(losses) == 0 {
		return
	}
	x := MetricsWorse{AtSetting: AtSetting{losses[0].Of.Setting}}
	for i := range losses {
		x.Losses = append(x.Losses, losses[i].ReasonMetricWorse)
	}
	n.add(i, x)
}

// timed is how a benchmark's time of an operation is called in a journal.
const timed = " ns/op"

// benchmarks are nil where fewer than two were timed, or nothing can be compared.
func (g *group) benchmarks(losses []metricLoss) *Benchmarks {
	var names []string
	for _, t := range g.measuredIn(g.measured()) {
		for name, m := range t.Metrics {
			if m.Unit == "ns/op" && strings.HasSuffix(name, timed) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if g.unit() != "operations" || len(names) < 2 || len(g.Values) == 0 {
		return nil
	}
	slices.Sort(names)
	b := &Benchmarks{Base: max(0, slices.IndexFunc(g.Values, func(v *contest.Value) bool { return v.Default }))}
	for _, v := range g.Values {
		b.Procs = append(b.Procs, v.Procs)
	}
	// The error of 5% is shared among the two bounds of every comparison.
	alpha := 0.05 / float64(2*max(1, (len(names)+1)*(len(g.Values)-1)))
	for _, name := range names {
		of := func(t *journal.Trial) *float64 {
			if m, ok := t.Metrics[name]; ok {
				return new(m.Value * 1e-9)
			}
			return nil
		}
		one := Benchmark{Name: strings.TrimSuffix(name, timed), Times: g.times(b.Base, of, alpha)}
		for i := range losses {
			if l := &losses[i]; l.part && l.Metric == name {
				one.Wants = new(l.Than.Procs)
			}
		}
		b.List = append(b.List, one)
	}
	b.Mean = g.times(b.Base, func(t *journal.Trial) *float64 {
		if x := t.ThroughputPerSecond; x != nil && *x > 0 {
			return new(1 / *x)
		}
		return nil
	}, alpha)
	return b
}

// times are those of an operation at each value, compared with the base block by block.
func (g *group) times(base int, of figure, alpha float64) []BenchmarkTime {
	var list []BenchmarkTime
	for i, v := range g.Values {
		t := BenchmarkTime{Setting: v.Setting, Seconds: stat.Median(contest.Figures(v.Trials, of))}
		if d := differences(of, v.Trials, g.Values[base].Trials); i != base && len(d) > 0 {
			_, low, high := stat.SignedRanks(d, alpha)
			t.VersusBase = stat.OfLogs(stat.Mean(d), low, high, len(d))
			t.Differs = low > 0 || high < 0
		}
		list = append(list, t)
	}
	return list
}

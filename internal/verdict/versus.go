package verdict

import "github.com/procfit/procfit/internal/verdict/contest"

// Versus is what the value that a verdict names changes against the default's, as
// ratios to it with the interval that holds in 95 % of such choices.
type Versus struct {
	Procs        int      `json:"procs"`
	DefaultProcs int      `json:"default_procs"`
	Throughput   Interval `json:"throughput"`
	Latency      Interval `json:"latency"` // of the judged quantile; without a median where it was not compared
}

// against compares what is named with the default; nil where one of them is not known,
// or they are one.
func (w *outcome) against(r *Recommendation) *Versus {
	standard := w.defaultContender()
	if standard == nil || r.Procs == nil {
		return nil
	}
	named := w.of(*r.Procs)
	if named == nil || named == standard {
		return nil
	}
	return &Versus{
		Procs: named.procs, DefaultProcs: standard.procs,
		Throughput: w.interval(named, standard, MetricThroughput), Latency: w.interval(named, standard, MetricP99),
	}
}

// interval of a to b, of which a was chosen.
func (w *outcome) interval(a, b *contender, metric string) Interval {
	e := w.between(a, b, metric)
	if e.N == 0 || metric == MetricP99 && (a.saturated || b.saturated) {
		return Interval{}
	}
	i := Interval{Median: ratio(e.Mid), N: e.N}
	if e.N >= contest.FewestProve {
		_, low, high := w.Model.Interval(a.procs, b.procs, figureOf(metric))
		i.Low, i.High = known(low), known(high)
	}
	return i
}

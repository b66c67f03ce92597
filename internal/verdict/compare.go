package verdict

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// margins holds what comparisons in one group are made with: the margins as logarithms,
// ln(1+m) of p99 and -ln(1-m) of throughput.
type margins struct {
	margin, marginP99 float64
}

// loss and growth are a ratio as the logarithm of what becomes less or more by it.
func loss(ratio float64) float64 {
	if ratio >= 1 {
		return math.Inf(1) // nothing falls by all of itself
	}
	return -math.Log1p(-ratio)
}

func growth(ratio float64) float64 { return math.Log1p(ratio) }

func newMargins(margin, marginP99 float64) *margins {
	margin = min(max(margin, 0), 0.99) // a plan is checked, a journal may be anyone's
	return &margins{margin: loss(margin), marginP99: growth(max(marginP99, 0))}
}

// comparison is one value against another in one metric. Neither asGood nor
// worse means that these trials do not decide it.
type comparison struct {
	contest.Bounds // of ln(a ÷ b)
	// asGood: not worse by more than the margin, with 95% confidence.
	asGood bool
	// worse: worse by more than the margin with 95% confidence, whichever of all that
	// are compared is picked out.
	worse bool
}

// throughput compares a with b.
func (w *outcome) throughput(a, b *contender) comparison {
	e := w.between(a, b, MetricThroughput)
	return comparison{e, e.Lower > -w.margin, e.Most < -w.margin}
}

// p99 compares a with b in the judged quantile.
func (w *outcome) p99(a, b *contender) comparison {
	e := w.between(a, b, MetricP99)
	return comparison{e, e.Upper < w.marginP99, e.Least > w.marginP99}
}

// versus is a value against the best in throughput, with the bounds that decide: the
// lower reports whether it is as good, the upper whether it is worse.
func (w *outcome) versus(s *contender) Bounds {
	if w.best == nil || s == w.unplaced { // which takes no part
		return Bounds{}
	}
	if s == w.best {
		return Bounds{Ratio: new(1.0), N: s.level.Trials}
	}
	e := w.between(s, w.best, MetricThroughput)
	if e.N == 0 {
		return Bounds{}
	}
	return Bounds{Ratio: ratio(e.Mid), Low: ratio(e.Lower), High: ratio(e.Most), N: e.N}
}

// ratio is a value against the best in throughput, with the two-sided 95% interval.
func (w *outcome) ratio(s *contender) Interval {
	if s == w.best {
		return Interval{Median: new(1.0), Low: new(1.0), High: new(1.0), N: s.level.Trials}
	}
	return w.interval(w.best, s, MetricThroughput).Inverse()
}

// costlier is the growth of the CPU time per request that is reported.
const costlier = 0.10

// costs are the values above x at which a request is proven to take more CPU time, by costlier
// or more, at the rate that the open loop offers to all: Ps without work look for some, and
// wake threads for it. Each is compared with x block by block, and the error of 5% is shared
// among all.
func (g *group) costs(w *outcome, x *contender) (list []Reason) {
	rate := w.group.RatePerSecond
	if x == nil || rate == nil || g.key.Compares != "" {
		return nil
	}
	above := slices.DeleteFunc(slices.Clone(w.contenders), func(s *contender) bool { return s.procs <= x.procs || s.saturated })
	level, cost := 1-0.05/float64(max(1, len(above))), costAt(*rate)
	for _, s := range above {
		d := g.seriesOf(s, cost).minus(g.seriesOf(x, cost))
		if len(d) < minPairs {
			continue
		}
		mid := stat.Mean(d, nil)
		least := mid - quantileT(level, len(d)-1)*stat.StdDev(d, nil)/math.Sqrt(float64(len(d)))
		if least > growth(costlier) && mid > growth(g.metricFloor(cost)) {
			list = append(list, Reason{Code: ReasonCostlier, Of: s.named(), Than: x.named(), Change: expm1(mid), Bound: expm1(least), N: len(d)})
		}
	}
	return list
}

// costAt is the CPU time of a request in an open loop at that rate; nil where another rate was
// offered, or the setting did not keep up with it.
func costAt(rate float64) figure {
	return func(t *journal.Trial) *float64 {
		i := slices.IndexFunc(t.Phases, func(p journal.Phase) bool { return p.Mode == journal.ModeOpen })
		if i < 0 || t.Saturated || t.Phases[i].RatePerSecond == nil || *t.Phases[i].RatePerSecond != rate {
			return nil
		}
		return CPUPerRequest(t, journal.ModeOpen)
	}
}

// noise is how much the two copies of the A/A setting differ. It decides nothing: what
// a trial strays by is known better from all of them.
func (g *group) noise() NoiseFloor {
	var f NoiseFloor
	for _, a := range g.current() {
		if len(a.aa) == 0 {
			continue
		}
		throughput := locateNarrow(g.series(throughputOf, a.aa).minus(g.series(throughputOf, a.measure)))
		p99 := locateNarrow(g.series(p99Of, a.aa).minus(g.series(p99Of, a.measure)))
		f = NoiseFloor{Setting: a.Label, Pairs: throughput.n}
		f.Throughput, f.P99 = floorOf(throughput), floorOf(p99)
		break
	}
	return f
}

func floorOf(e estimate) *float64 {
	if e.n < minPairs {
		return nil
	}
	return new(expm1(max(math.Abs(e.low), math.Abs(e.high))))
}

// spread is the typical standard deviation of differences between values: the
// median over all that are compared with the first.
func spread(of func(*contender) series, best *contender, contenders []*contender) (sd float64, n int) {
	var sds []float64
	for _, s := range contenders {
		if d := of(s).minus(of(best)); s != best && len(d) >= 2 {
			sds = append(sds, stat.StdDev(d, nil))
			n = max(n, len(d))
		}
	}
	if len(sds) == 0 {
		return 0, 0
	}
	return medianFloat(sds), n
}

// detectableEffect is the smallest difference that the blocks so far can show.
func detectableEffect(best *contender, contenders []*contender) Detectable {
	return Detectable{
		Throughput: detectableRatio(spread(func(s *contender) series { return s.throughput }, best, contenders)),
		P99:        detectableRatio(spread(func(s *contender) series { return s.p99 }, best, contenders)),
	}
}

func detectableRatio(sd float64, n int) *float64 {
	const most = 10 // 1000%: blocks that can show no less show nothing
	if n < minPairs {
		return nil
	}
	if x := expm1(detectable(sd, n)); x <= most {
		return &x
	}
	return nil
}

// figureOf is the metric as a contest calls it.
func figureOf(metric string) race.Figure {
	if metric == MetricP99 {
		return race.P99
	}
	return race.Throughput
}

// between is a ÷ b in a metric.
func (w *outcome) between(a, b *contender, metric string) contest.Bounds {
	return w.contest.Between(a.procs, b.procs, figureOf(metric))
}

// levelOf is a value's level in a metric.
func (s *contender) levelOf(metric string) Level {
	l, x := s.level, race.Interval{}
	n := 0
	if metric == MetricThroughput {
		x, n = l.Throughput, l.Trials
	} else {
		x, n = l.P99, s.p99Trials
	}
	if n == 0 || !finitePositive(x.Mean) {
		return Level{}
	}
	out := Level{Mean: new(x.Mean), N: n}
	if n > 1 && finitePositive(x.Low) && finitePositive(x.High) {
		out.Low, out.High = new(x.Low), new(x.High)
	}
	return out
}

func finitePositive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

// Versus is what the value that a verdict names changes against the default's, as
// ratios to it with the interval that holds in 95% of such choices.
type Versus struct {
	Procs        int
	DefaultProcs int
	Throughput   Interval
	Latency      Interval // of the judged quantile; without a median where it was not compared
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

// interval of a to b, where a was chosen.
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

package verdict

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// costlier is the growth of the CPU time per request that is reported.
const costlier = 0.10

// costs are the values above the chosen one at which a request is proven to take more CPU time, by costlier
// or more, at the rate that the open loop offers to all: Ps without work look for some, and
// wake threads for it. Each is compared with the chosen one block by block, and the error of 5% is shared
// among all.
func (g *group) costs(chosen *contest.Value) (list []Remark) {
	rate := g.rate
	if chosen == nil || rate == nil || g.Group.Compares != "" {
		return nil
	}
	above := slices.DeleteFunc(slices.Clone(g.Values), func(v *contest.Value) bool { return v.Procs <= chosen.Procs || v.Saturated })
	alpha, cost := 0.05/float64(max(1, len(above))), costAt(*rate)
	for _, v := range above {
		d := differences(cost, v.Trials, chosen.Trials)
		mid := stat.Mean(d)
		least, _ := stat.Student(d, alpha)
		if least > contest.Growth(costlier) && mid > contest.Growth(g.metricFloor(cost)) {
			list = append(list, ReasonCostlier{Bounded{Difference{Pair{v, chosen}, expm1(mid), len(d)}, expm1(least)}})
		}
	}
	return list
}

// costAt is the CPU time of a request in an open loop at that rate; nil where another rate was
// offered, or the setting did not keep up with it.
func costAt(rate float64) figure {
	return func(t *journal.Trial) *float64 {
		p := t.Phase(journal.ModeOpen)
		if p == nil || t.Saturated || p.RatePerSecond == nil || *p.RatePerSecond != rate {
			return nil
		}
		return CPUPerRequest(t, journal.ModeOpen)
	}
}

// noise is how much the two copies of the A/A setting differ. It decides nothing: what
// a trial strays by is known better from all of them.
func (g *group) noise() NoiseFloor {
	throughput, label := g.copyDifferences(throughputOf)
	p99, _ := g.copyDifferences(shownLatency(journal.ModeOpen, ofP99))
	return NoiseFloor{Setting: label, Pairs: len(throughput), Throughput: floorOf(throughput), P99: floorOf(p99)}
}

// copyDifferences are those of a metric between the two copies of the A/A setting, block by
// block, with its label; none without such a setting.
func (g *group) copyDifferences(f figure) (d []float64, label string) {
	for _, a := range g.Current() {
		if copies := g.Copies(a); len(copies) > 0 {
			return differences(f, copies, g.Measured(a)), a.Label
		}
	}
	return nil, ""
}

// floorOf is how far copies of one setting stray, outliers and all, by Student's t: at six
// pairs the exact signed-rank interval is their whole range.
func floorOf(d []float64) *float64 {
	if len(d) < stat.FewestPairs {
		return nil
	}
	low, high := stat.Student(d, 0.025)
	return new(expm1(max(math.Abs(low), math.Abs(high))))
}

// against compares what is named with the default; nil where one of them is not known,
// or they are one, or the default did not meet the objective.
func (g *group) against(rec *Recommendation) *Versus {
	standard := g.DefaultValue()
	if standard == nil || rec.Procs == nil {
		return nil
	}
	named := g.Of(*rec.Procs)
	if named == nil || named == standard || standard.Unmet {
		return nil
	}
	versus := &Versus{Procs: named.Procs, DefaultProcs: standard.Procs, Throughput: g.interval(named.Procs, standard.Procs, race.Throughput)}
	if !named.Saturated && !standard.Saturated {
		versus.Latency = g.interval(named.Procs, standard.Procs, race.P99)
	}
	return versus
}

func (g *group) interval(chosen, other int, by race.Figure) stat.Interval {
	e := g.Between(chosen, other, by)
	if e.N == 0 {
		return stat.Interval{}
	}
	i := stat.Interval{Median: stat.RatioOfLog(e.Mid), N: e.N}
	if e.N >= contest.FewestProve {
		_, low, high := g.Lead().Model.Interval(chosen, other, by)
		i.Low, i.High = stat.Known(low), stat.Known(high)
	}
	return i
}

// metricFloor is the noise floor of a metric; 0 where it is not known.
func (g *group) metricFloor(f figure) float64 {
	d, _ := g.copyDifferences(f)
	return stat.OrZero(floorOf(d))
}

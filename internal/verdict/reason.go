package verdict

import (
	"cmp"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// reasons are what the comparisons show, each with its metrics and its n: first
// what is proven, then what is open, then what requests cost, what was skipped, and the noise.
func (g *group) reasons(costs []Remark) []Remark {
	return slices.Concat([]Remark{ReasonFastest{About{g.Best}, g.lucky()}}, g.throughputReasons(), g.latencyReasons(), costs, g.common())
}

// common are those that compare no values.
func (g *group) common() (list []Remark) {
	when := func(is bool, x Remark) {
		if is {
			list = append(list, x)
		}
	}
	j := g.Latency
	when(j.Quantile != 0.99 && (j.Quantile > 0 || j.Reason != ""), ReasonUnjudged{})
	when(j.Late > 0, ReasonLateLoad{j.Late})
	when(g.ByLatency && g.Rules().MaxByLatency > 0, ReasonShared{})
	when(g.others.Bursts > 0, ReasonBursts{})
	when(g.others.Slow > 0, ReasonSlow{g.others.Slow})
	when(len(g.TooFewCPUs) > 0, ReasonTooFewCPUs{g.TooFewCPUs})
	if u := g.Apart; u != nil && u.Procs == 0 {
		list = append(list, ReasonUnsetUnread{})
	} else if u != nil {
		if is, of := u.Throughput.Median, g.twin().Throughput.Median; is != nil && of != nil {
			list = append(list, ReasonUnsetDiffers{Difference{Pair{u, g.twin()}, *is / *of - 1, min(u.N, g.twin().N)}})
		}
	}
	if g.Sliced != nil {
		list = append(list, sliced(g.Sliced)...)
	}
	when(g.spread.Throughput != nil, ReasonSpread{})
	return append(list, ReasonHolds{})
}

// lucky are the values whose level is above the best one's, by too few trials to
// count.
func (g *group) lucky() []*contest.Value {
	return slices.DeleteFunc(slices.Clone(g.Values), func(v *contest.Value) bool { return v.Unmet || !v.Throughput.Above(g.Best.Throughput) })
}

func (g *group) throughputReasons() []Remark {
	var worse, aside, good, open []Remark
	for _, v := range g.Values {
		if v == g.Best {
			continue
		}
		c := g.Throughput(v, g.Best)
		d := Difference{Pair{v, g.Best}, expm1(c.Mid), c.N}
		switch {
		case c.Worse:
			worse = append(worse, ReasonSlower{Bounded{d, expm1(c.Most)}})
		case c.AsGood:
			good = append(good, ReasonAsFast{Bounded{d, expm1(min(c.Lower, 0))}})
		case c.N > 0 && v.Out:
			aside = append(aside, ReasonSetAside{d})
		case c.N > 0 && v.Unmet:
			aside = append(aside, ReasonUnmet{About{v}})
		default:
			open = append(open, ReasonSpeedOpen{d})
		}
	}
	return slices.Concat(worse, aside, good, open)
}

// latencyReasons compares what is as good in throughput with the lowest latency of all
// that carry the rate.
func (g *group) latencyReasons() []Remark {
	if !g.ByLatency {
		if g.latencyMode == journal.ModeClosed {
			return []Remark{ReasonP99NotJudged{}}
		}
		return nil
	}
	var worse, good, open []Remark
	for _, v := range g.Values {
		if v.Saturated {
			worse = append(worse, ReasonSaturated{About{v}})
		}
	}
	low := g.Lowest
	if low == nil || !slices.ContainsFunc(g.Values, g.besideLow) {
		return worse
	}
	for _, v := range g.Values {
		if v == low || v.Saturated || !v.HasLatency() || !g.InTail(v) || g.Beyond(v) {
			continue
		}
		c := g.P99(v, low)
		d := Difference{Pair{v, low}, expm1(c.Mid), c.N}
		switch {
		case c.Worse:
			worse = append(worse, ReasonLater{Bounded{d, expm1(c.Least)}})
		case c.AsGood:
			good = append(good, ReasonAsPrompt{Bounded{d, expm1(max(c.Upper, 0))}})
		default:
			open = append(open, ReasonP99Open{d})
		}
	}
	return slices.Concat([]Remark{ReasonLowestP99{About{low}, g.luckyLow()}}, worse, good, open)
}

// luckyLow are the values whose latency is below the lowest, by too few trials to
// count.
func (g *group) luckyLow() []*contest.Value {
	return slices.DeleteFunc(slices.Clone(g.Values), func(v *contest.Value) bool { return !g.Lowest.P99.Above(v.P99) || !g.besideLow(v) })
}

// besideLow are those that the lowest latency is the lowest of.
func (g *group) besideLow(v *contest.Value) bool {
	return v != g.Lowest && v.HasLatency() && !v.Saturated && !g.Out(v) && !g.Beyond(v)
}

// twin is the numbered value of the number that the unset setting chose, which has no part.
func (g *group) twin() *contest.Value { return cmp.Or(g.Of(g.Apart.Procs), g.Apart) }

func sliced(s *contest.Sliced) []Remark {
	switch {
	case s.Apart != nil:
		return []Remark{ReasonStartsDiffer{*s.Apart, s.SizedAtStart}}
	case s.Why != "":
		return []Remark{ReasonAllStarts{s.SlicedEnd}}
	}
	var x ReasonSliced
	for _, v := range s.Values {
		switch {
		case v.Kept:
		case v.Slower:
			x.Slower = append(x.Slower, v.Procs)
		default:
			x.Covered = append(x.Covered, v.Procs)
		}
	}
	if x.Slower == nil && x.Covered == nil {
		return nil
	}
	return []Remark{x}
}

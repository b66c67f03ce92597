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
	list := []Remark{ReasonFastest{About{g.Best}, g.lucky()}}
	list = append(list, g.throughputReasons()...)
	list = append(list, g.latencyReasons()...)
	list = append(list, costs...)
	return append(list, g.common()...)
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

// byStanding sorts comparisons with one value: worse, as good, open.
type byStanding struct{ worse, good, open []Remark }

func (b byStanding) all() []Remark { return append(append(b.worse, b.good...), b.open...) }

func (g *group) throughputReasons() []Remark {
	var list byStanding
	var aside []Remark
	for _, v := range g.Values {
		if v == g.Best {
			continue
		}
		c := g.Throughput(v, g.Best)
		d := Difference{Pair{v, g.Best}, expm1(c.Mid), c.N}
		switch {
		case c.N == 0:
			d.Change = 0
			list.open = append(list.open, ReasonSpeedOpen{d})
		case c.Worse:
			list.worse = append(list.worse, ReasonSlower{Bounded{d, expm1(c.Most)}})
		case c.AsGood:
			list.good = append(list.good, ReasonAsFast{Bounded{d, expm1(min(c.Lower, 0))}})
		case v.Out:
			aside = append(aside, ReasonSetAside{d})
		case v.Unmet:
			aside = append(aside, ReasonUnmet{About{v}})
		default:
			list.open = append(list.open, ReasonSpeedOpen{d})
		}
	}
	return append(append(list.worse, aside...), append(list.good, list.open...)...)
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
	var list byStanding
	for _, v := range g.Values {
		if v.Saturated {
			list.worse = append(list.worse, ReasonSaturated{About{v}})
		}
	}
	low := g.Lowest
	if low == nil || !slices.ContainsFunc(g.Values, g.besideLow) {
		return list.all()
	}
	for _, v := range g.Values {
		if v == low || v.Saturated || !v.HasLatency() || !g.InTail(v) || g.Beyond(v) {
			continue
		}
		c := g.P99(v, low)
		d := Difference{Pair: Pair{v, low}, N: c.N}
		if c.N > 0 {
			d.Change = expm1(c.Mid)
		}
		switch {
		case c.Worse:
			list.worse = append(list.worse, ReasonLater{Bounded{d, expm1(c.Least)}})
		case c.AsGood:
			list.good = append(list.good, ReasonAsPrompt{Bounded{d, expm1(max(c.Upper, 0))}})
		default:
			list.open = append(list.open, ReasonP99Open{d})
		}
	}
	return append([]Remark{ReasonLowestP99{About{low}, g.luckyLow()}}, list.all()...)
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

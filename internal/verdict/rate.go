package verdict

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// carries answers for the smallest value that carries the asked rate: the smallest of
// which that is proven, what was proven not to carry it below. Its verdict rests on
// counts of requests.
func (g *group) carries() Recommendation {
	rec := Recommendation{Verdict: Undecided, Reasons: []Remark{}}
	if g.origin == OriginMixed {
		rec.because(CauseMixedOrigins{}, StepStartAgain)
		return rec
	}
	var carriers []*contest.Value
	offered, few, refused, limited := false, false, true, false
	for _, v := range g.Values {
		c, refuses := g.carrying(v)
		if c.Trials == 0 {
			continue
		}
		offered, few, refused, limited = true, few || c.Blocks < stat.FewestPairs, refused && refuses, limited || g.limited(v)
		rec.Reasons = append(rec.Reasons, ReasonCarried{About{v}, c})
		if c.Carries {
			carriers = append(carriers, v)
		}
	}
	if len(g.TooFewCPUs) > 0 {
		rec.Reasons = append(rec.Reasons, ReasonTooFewCPUs{g.TooFewCPUs})
	}
	if len(carriers) == 0 {
		if len(rec.Reasons) > 0 {
			rec.Reasons = append(rec.Reasons, ReasonHolds{})
		}
		switch {
		case len(g.TooFewCPUs) > 0 && (g.Best == nil || offered && refused): // which may carry it
			rec.because(CauseTooFewCPUs{g.TooFewCPUs}, g.others.remedy())
		case g.Best == nil:
			rec.because(g.nothing())
		case !offered:
			rec.because(CauseRateNotOffered{}, StepOfferRate)
		case few:
			rec.because(CauseRateFewBlocks{}, StepRepeat, StepLessRate)
			rec.Next[0].Blocks = stat.FewestPairs
		case refused:
			rec.Claim, rec.Next = CauseRateNotCarried{Proven: true}, append(g.higher(), Step{Code: StepLessRate})
		default:
			rec.because(CauseRateNotCarried{}, StepLessRate)
			rec.Next = append(g.next(), rec.Next...)
			if limited && !g.header.Load.Tunnelled() { // then next has it
				rec.Next = slices.Insert(rec.Next, 0, Step{Code: StepLoadElsewhere})
			}
		}
		return rec
	}
	chosen := carriers[0]
	rec.Verdict, rec.Confidence = SustainsRate, Proven
	if better := g.betterCarrier(chosen, carriers); better != nil {
		c := g.P99(chosen, better)
		rec.Reasons = append(rec.Reasons, ReasonCarrierP99{Bounded{Difference{Pair{chosen, better}, expm1(c.Mid), c.N}, expm1(c.Least)}})
	}
	rec.Reasons = append(append(rec.Reasons, g.costs(chosen)...), ReasonHolds{})
	rec.Claim, rec.Setting = ClaimCarries{About{chosen}}, unsetLabel(chosen)
	if !chosen.Default {
		rec.Procs = new(chosen.Procs)
	}
	return rec
}

// higher asks for values above the highest one, if it has fewer Ps than there are CPUs.
func (g *group) higher() []Step {
	top := g.Values[len(g.Values)-1].Procs
	if len(g.TooLarge)+len(g.Unweighed) > 0 || float64(top) >= g.effective {
		return nil
	}
	return []Step{{Code: StepHigherValues, Have: top}}
}

// each is the error that every value has when the smallest of them is picked out.
func (g *group) each() float64 { return (1 - contest.Singly) / float64(max(1, len(g.Values))) }

// betterCarrier is the carrier of the lowest p99 that the chosen one is proven worse than.
func (g *group) betterCarrier(chosen *contest.Value, carriers []*contest.Value) *contest.Value {
	var best *contest.Value
	for _, v := range carriers {
		if v.HasLatency() && g.Later(chosen, v) && (best == nil || best.P99.Above(v.P99)) {
			best = v
		}
	}
	return best
}

// ratioOf are values' median and its one-sided bounds.
func ratioOf(values []float64, alpha float64) (mid, low, high float64) {
	if len(values) == 0 {
		return 0, math.Inf(-1), math.Inf(1)
	}
	mid = stat.Middle(values)
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(max(v, math.SmallestNonzeroFloat64))
	}
	_, lower, upper := stat.SignedRanks(logs, alpha)
	return mid, min(mid, math.Exp(lower)), max(mid, math.Exp(upper))
}

// carrying is what a value did with the offered rate, and whether it is proven not to carry it. An
// open loop of a few seconds may keep up for as long as its queues have room, so what the value
// reached in closed loop must come to the rate too. Where the load generator was at its limit, that
// says nothing of what the value cannot carry.
func (g *group) carrying(v *contest.Value) (c Carried, refuses bool) {
	var shares, closed []float64
	blocks := map[int]bool{}
	for _, t := range g.measuredIn(v.Settings) {
		p, loop := t.Phase(journal.ModeOpen), t.Phase(journal.ModeClosed)
		if !t.Valid || p == nil || !(stat.OrZero(p.RatePerSecond) > 0) {
			continue
		}
		blocks[t.Block] = true
		shares = appendFinite(shares, p.AchievedPerSecond / *p.RatePerSecond)
		if loop != nil {
			closed = appendFinite(closed, loop.AchievedPerSecond / *p.RatePerSecond)
		}
	}
	share, low, high := ratioOf(shares, g.each())
	c = Carried{Share: share, Trials: len(shares), Blocks: len(blocks)}
	loop, least, most := ratioOf(closed, g.each())
	if len(closed) > 0 {
		c.Closed = new(loop)
	} else { // there was none
		least, most = math.Inf(1), math.Inf(1)
	}
	if c.Blocks < stat.FewestPairs {
		return c, false
	}
	if low > 0 {
		c.ShareLow = new(low)
	}
	if c.Closed != nil && least > 0 {
		c.Closed, c.Low = new(least), true
	}
	c.Carries = low >= journal.CarriedRatio-rounding && least >= 1-rounding
	return c, (high < journal.CarriedRatio || most < 1) && !g.limited(v)
}

// limited reports whether most trials of a value measured the load generator, or all of them the
// API server.
func (g *group) limited(v *contest.Value) bool {
	return g.header.Load.Tunnelled() || contest.Most(g.measuredIn(v.Settings), limitedByLoad)
}

// rounding is what an exponential of a logarithm may be off by.
const rounding = 1e-9

// appendFinite leaves out what a wild journal may come to.
func appendFinite(list []float64, x float64) []float64 {
	if stat.Known(x) == nil {
		return list
	}
	return append(list, x)
}

// contradicted marks groups in which nothing is shown to carry the rate that a smaller
// quota is proven to carry: more CPUs cannot be what held it back.
func (r *Result) contradicted() {
	if !r.Plan.SmallestFor {
		return
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		if _, is := g.Recommendation.Claim.(CauseRateNotCarried); !is {
			continue
		}
		for k := range r.Groups {
			less := &r.Groups[k]
			smaller := less.QuotaCPUs != nil && (g.QuotaCPUs == nil || *less.QuotaCPUs < *g.QuotaCPUs)
			if smaller && less.Replicas <= g.Replicas && less.GoVersion == g.GoVersion && less.Recommendation.Verdict == SustainsRate {
				g.Recommendation.because(CauseRateContradicts{}, StepQuietMachine)
			}
		}
	}
}

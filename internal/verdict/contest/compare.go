package contest

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
)

// Comparison is one value against another in one metric. If it is neither AsGood nor
// Worse, these trials do not decide it.
type Comparison struct {
	Bounds // of ln(a ÷ b)
	// AsGood: not worse by more than the margin, with 95% confidence.
	AsGood bool
	// Worse: worse by more than the margin with 95% confidence, whichever of all that
	// are compared is picked out.
	Worse bool
}

// Loss and Growth are a ratio as the logarithm of what becomes less or more by it.
func Loss(ratio float64) float64 {
	if ratio >= 1 {
		return math.Inf(1) // nothing falls by all of itself
	}
	return -math.Log1p(-ratio)
}

// Growth is ln(1+ratio).
func Growth(ratio float64) float64 { return math.Log1p(ratio) }

func (c *Contest) between(a, b *Value, by race.Figure) Bounds { return c.Between(a.Procs, b.Procs, by) }

// Throughput compares a with b. A value that did not meet the objective carries less than its
// throughput, so that it is not as good by that, and nothing is worse.
func (c *Contest) Throughput(a, b *Value) Comparison {
	e, margin := c.between(a, b, race.Throughput), Loss(c.rules.Margin)
	return Comparison{e, e.Lower > -margin && !a.Unmet, e.Most < -margin && !b.Unmet}
}

// P99 compares a with b in the judged quantile.
func (c *Contest) P99(a, b *Value) Comparison {
	e, margin := c.between(a, b, race.P99), Growth(c.rules.MarginP99)
	return Comparison{e, e.Upper < margin, e.Least > margin}
}

// Of is the compared value of that many Ps, if it has a throughput.
func (c *Contest) Of(ps int) *Value {
	i := slices.IndexFunc(c.Values, func(v *Value) bool { return v.Procs == ps })
	if ps <= 0 || i < 0 || c.Values[i].Throughput.Median == nil {
		return nil
	}
	return c.Values[i]
}

// DefaultValue is the value that unset came to; nil when that was not measured or has no
// place among the values.
func (c *Contest) DefaultValue() *Value {
	for _, v := range c.Values {
		if v.Default {
			return v
		}
	}
	return nil
}

// Out reports whether a value is proven worse in throughput, so that its latency is not
// compared.
func (c *Contest) Out(v *Value) bool {
	return c.Best != nil && v != c.Best && (v.Out || c.Throughput(v, c.Best).Worse)
}

// InTail reports whether a value is as good in throughput as the best.
func (c *Contest) InTail(v *Value) bool { return slices.Contains(c.Tail, v) }

// Beyond reports whether a value has more Ps than latency may prefer.
func (c *Contest) Beyond(v *Value) bool {
	return c.ByLatency && c.rules.MaxByLatency > 0 && v.Procs > c.rules.MaxByLatency
}

// PassesLatency reports whether a value is as good in latency as every other of the tail
// that latency may prefer.
func (c *Contest) PassesLatency(v *Value) bool {
	if v.Saturated || c.ByLatency && !v.HasLatency() {
		return false
	}
	return !c.ByLatency || !slices.ContainsFunc(c.Tail, func(other *Value) bool {
		return other != v && other.HasLatency() && !other.Saturated && !c.Beyond(other) && !c.P99(v, other).AsGood
	})
}

// Later reports whether v is proven worse than other in latency. Where the load runs on
// the target's CPUs it is worst exactly where there are as many Ps as CPUs: then
// nothing is later than what has more, and the default later than nothing.
func (c *Contest) Later(v, other *Value) bool {
	if most := c.rules.MaxByLatency; !c.ByLatency || most > 0 && (v.Default || other.Procs > most) {
		return false
	}
	return c.P99(v, other).Worse
}

// Beats reports whether v is proven better than other on either metric, or carries
// the rate where other is proven not to.
func (c *Contest) Beats(v, other *Value) bool {
	return other.Saturated && !v.Saturated || c.Throughput(other, v).Worse || c.Later(other, v)
}

// Decided reports whether the trials decide that v is to be preferred to other:
// other is proven worse, or v is as good with fewer Ps.
func (c *Contest) Decided(v, other *Value) bool {
	return c.Beats(v, other) || v.Procs < other.Procs && c.Covers(v, other)
}

// Covers reports whether v is as good as other on all that is judged.
func (c *Contest) Covers(v, other *Value) bool {
	return c.Throughput(v, other).AsGood &&
		(!c.ByLatency || !other.HasLatency() || c.Beyond(other) || c.P99(v, other).AsGood)
}

// AllEqual reports whether all values are proven equal within the margins: each is as
// good as each other, in throughput and in latency, by as many trials as a value has that is
// named.
func (c *Contest) AllEqual() bool {
	if len(c.Values) < 2 || c.Apart != nil || c.rules.Moves {
		return false
	}
	for _, v := range c.Values {
		if v.Saturated || v.N < race.Enough || c.ByLatency && (!v.HasLatency() || c.lead.Model.Trials(v.Procs, race.P99) < race.Enough) {
			return false
		}
		for _, other := range c.Values {
			if other != v && !(c.Throughput(v, other).AsGood && (!c.ByLatency || c.P99(v, other).AsGood)) {
				return false
			}
		}
	}
	return true
}

// Worse reports whether any value is proven worse than v, or than the best, by more than one trial,
// or was measured no further since slices showed it to be.
func (c *Contest) Worse(v *Value) bool {
	return c.rules.Moves || slices.ContainsFunc(c.Values, func(other *Value) bool {
		return other != v && (c.Beats(v, other) || c.Out(other) && !c.Level(other.Procs).OutByOne)
	})
}

// Wild reports whether trials stray too far for a mere likelihood.
func (c *Contest) Wild() bool {
	spread := c.lead.Spread
	return spread.Throughput > race.WildThroughput || c.ByLatency && spread.P99 > race.WildLatency
}

// Open are the comparisons that keep the contest from its end, between values that are
// compared: the one that decides first.
func (c *Contest) Open() []race.Comparison {
	return slices.DeleteFunc(slices.Clone(c.lead.Open), func(o race.Comparison) bool { return c.Of(o.A) == nil || c.Of(o.B) == nil })
}

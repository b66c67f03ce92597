package stat

import (
	"math"

	"github.com/procfit/procfit/internal/journal"
)

// CarriedRatio is the share of the offered rate that counts as carried.
const CarriedRatio = 0.99

// carries answers for the smallest setting that carries the asked rate. Its
// verdict rests on counts of requests, not on comparisons, so the noise floor
// has no part in it.
func (g *group) carries(w *walk) Recommendation {
	r := Recommendation{Verdict: CannotTell, Reasons: []Reason{}}
	carriers, offered := w.carriers()
	few := false
	for _, s := range w.settings {
		if c := s.carrying(); c.n > 0 {
			few = few || c.blocks < minPairs
			r.Reasons = append(r.Reasons, Reason{Code: ReasonCarried, Of: s.named(), Carried: c.typed()})
		}
	}
	if len(w.withheld) > 0 {
		r.Reasons = append(r.Reasons, Reason{Code: ReasonWithheld, List: namedAll(w.withheld)})
	}
	if len(carriers) == 0 {
		if len(r.Reasons) > 0 {
			r.Reasons = append(r.Reasons, Reason{Code: ReasonHolds})
		}
		switch {
		case w.best == nil:
			r.because(g.nothing(w))
		case !offered:
			r.because(CauseRateNotOffered, StepOfferRate)
		case few:
			r.because(CauseRateFewBlocks, StepRepeat, StepLessRate)
			r.Settle[0].Blocks = minPairs
		default:
			r.because(CauseRateNotCarried, StepLessRate)
		}
		return r
	}
	x := carriers[0]
	r.Verdict = CarriesRate
	if better := w.betterCarrier(x, carriers); better != nil {
		c := w.p99(x.p99, better.p99)
		r.Reasons = append(r.Reasons, Reason{
			Code: ReasonCarrierP99, Of: x.named(), Than: better.named(), Metric: MetricP99,
			Change: expm1(c.mid), Bound: expm1(c.lower), N: c.n,
		})
	}
	r.Reasons = append(r.Reasons, Reason{Code: ReasonHolds})
	if x.isDefault {
		r.Arm, r.Claim.Of = unsetLabel(x), x.asDefault().named()
		return r
	}
	r.Arm, r.Procs, r.Claim.Of = x.label, new(x.procs), x.named()
	return r
}

// carriers are the settings that carried the rate, by procs; offered says whether
// any was offered it.
func (w *walk) carriers() (list []*setting, offered bool) {
	for _, s := range w.settings {
		c := s.carrying()
		offered = offered || c.n > 0
		if c.enough() && !s.saturated {
			list = append(list, s)
		}
	}
	return list, offered
}

// betterCarrier is the carrier of the lowest p99 that x is proven worse than.
func (w *walk) betterCarrier(x *setting, carriers []*setting) *setting {
	var best *setting
	for _, s := range carriers {
		if s.hasP99() && w.p99(x.p99, s.p99).worse && (best == nil || s.tail < best.tail) {
			best = s
		}
	}
	return best
}

// carrying is what a setting did with the offered rate. An open loop of a few
// seconds may keep up for as long as its queues have room, so what the setting
// reached in closed loop must come to the rate too.
type carrying struct {
	n      int      // trials
	blocks int      // that they are of
	share  float64  // of the rate, achieved in open loop: the median
	closed Interval // throughput in closed loop ÷ the rate; N is 0 where there was none
}

func (s *setting) carrying() carrying {
	var shares, closed []float64
	blocks := map[int]bool{}
	for _, a := range s.arms {
		for _, t := range a.measure {
			if !t.Valid {
				continue
			}
			var loop *float64
			for i := range t.Phases {
				switch p := &t.Phases[i]; {
				case p.Mode == journal.ModeClosed:
					loop = &p.AchievedPerSecond
				case p.Mode == journal.ModeOpen && p.RatePerSecond != nil && *p.RatePerSecond > 0:
					blocks[t.Block] = true
					shares = appendFinite(shares, p.AchievedPerSecond / *p.RatePerSecond)
					if loop != nil {
						closed = appendFinite(closed, *loop / *p.RatePerSecond)
					}
				}
			}
		}
	}
	if len(shares) == 0 {
		return carrying{}
	}
	return carrying{len(shares), len(blocks), medianFloat(shares), medianOf(closed)}
}

// capacity is the low end of the closed loop's interval, else its median; without a
// closed loop nothing bounds it.
func (c carrying) capacity() (x float64, low bool) {
	switch {
	case c.closed.N == 0:
		return math.Inf(1), false
	case c.closed.Low != nil:
		return *c.closed.Low, true
	}
	return *c.closed.Median, false
}

func (c carrying) enough() bool {
	capacity, _ := c.capacity()
	return c.blocks >= minPairs && c.share >= CarriedRatio && capacity >= 1
}

func (c carrying) typed() *Carried {
	t := &Carried{Share: c.share, Trials: c.n, Blocks: c.blocks}
	if x, low := c.capacity(); !math.IsInf(x, 1) {
		t.Closed, t.Low = &x, low
	}
	return t
}

// appendFinite leaves out what a wild journal may come to.
func appendFinite(list []float64, x float64) []float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return list
	}
	return append(list, x)
}

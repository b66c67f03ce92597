package stat

import (
	"fmt"

	"github.com/procfit/procfit/internal/journal"
)

// carriedRatio is the share of the offered rate that counts as carried.
const carriedRatio = 0.99

// carries answers for the smallest setting that carries the asked rate. Its
// verdict rests on counts of requests, not on comparisons, so the noise floor
// has no part in it.
func (g *group) carries(w *walk, t telling) Recommendation {
	r := Recommendation{Verdict: CannotTell, Reasons: []string{}}
	carriers, without := w.carriers()
	rate := "the rate"
	if t.group.RatePerSecond != nil {
		rate = perSecond(*t.group.RatePerSecond, "requests")
	}
	for _, s := range w.settings {
		if share, n := s.carried(); n > 0 {
			r.Reasons = append(r.Reasons, fmt.Sprintf("%s carried %s of the rate (median, n %d)%s", t.name(s), percent(share), n, p99Clause(s)))
		}
	}
	if len(carriers) == 0 {
		r.Reasons = append(r.Reasons, t.holds())
		if without {
			r.Sentence = "Cannot tell: no valid trial offered " + rate + "."
			r.Settle = []string{"mend what made the trials invalid, then run again"}
			return r
		}
		r.Sentence = fmt.Sprintf("Cannot tell: no value of GOMAXPROCS carries %s %s.", rate, t.where())
		r.Settle = []string{"a lower --rate, more CPUs, or a higher --quota"}
		return r
	}
	x := carriers[0]
	r.Verdict = CarriesRate
	if better := w.betterCarrier(x, carriers); better != nil {
		c := w.p99(x.p99, better.p99)
		r.Reasons = append(r.Reasons, fmt.Sprintf("its p99 is %s than that of %s, at least %s (n %d)", shift(c.mid), t.name(better), percent(expm1(c.lower)), c.n))
	}
	r.Reasons = append(r.Reasons, t.holds())
	if x.isDefault {
		r.Arm = unsetLabel(x)
		r.Sentence = fmt.Sprintf("Leave GOMAXPROCS unset: the default chose %d, the smallest measured that carries %s%s %s.", x.procs, rate, p99Clause(x), t.where())
		return r
	}
	r.Arm, r.Procs = x.label, new(x.procs)
	r.Sentence = fmt.Sprintf("Set GOMAXPROCS=%d: the smallest measured that carries %s%s %s.", x.procs, rate, p99Clause(x), t.where())
	return r
}

func p99Clause(s *setting) string {
	if !s.hasP99() {
		return ""
	}
	return ", p99 " + seconds(s.p99.median())
}

// carriers are the settings that carried the rate, by procs; without says that
// none was offered any.
func (w *walk) carriers() (list []*setting, without bool) {
	without = true
	for _, s := range w.settings {
		share, n := s.carried()
		without = without && n == 0
		if n > 0 && !s.saturated && share >= carriedRatio {
			list = append(list, s)
		}
	}
	return list, without
}

// betterCarrier is the carrier of the lowest p99 that x is proven worse than.
func (w *walk) betterCarrier(x *setting, carriers []*setting) *setting {
	var best *setting
	for _, s := range carriers {
		if s.hasP99() && w.p99(x.p99, s.p99).worse && (best == nil || s.p99.median() < best.p99.median()) {
			best = s
		}
	}
	return best
}

// carried is the median share of the offered rate that was achieved.
func (s *setting) carried() (share float64, n int) {
	var shares []float64
	for _, a := range s.arms {
		shares = append(shares, values(a.measure, func(t *journal.Trial) *float64 {
			for i := range t.Phases {
				if p := &t.Phases[i]; p.Mode == journal.ModeOpen && p.RatePerSecond != nil && *p.RatePerSecond > 0 {
					return new(p.AchievedPerSecond / *p.RatePerSecond)
				}
			}
			return nil
		})...)
	}
	if len(shares) == 0 {
		return 0, 0
	}
	return medianFloat(shares), len(shares)
}

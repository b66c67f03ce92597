package slo

import "math"

// Probe is what one open loop came to.
type Probe struct {
	RatePerSecond float64
	Seconds       float64 // latency at the objective's quantile; 0: no request was answered
	Carried       bool    // the rate was kept up, and no more requests failed than may
}

// Meets tells whether the objective was met at the probe's rate.
func (o Objective) Meets(p Probe) bool {
	return p.Carried && p.Seconds > 0 && p.Seconds <= o.Seconds
}

// Search looks for the highest rate that meets the objective.
type Search struct {
	Objective
	Ceiling float64 // rate a second beyond which nothing is carried: what the closed loop reached
	Probes  int     // at most
}

const (
	firstShare = 0.7 // of the ceiling: the first rate
	growth     = 1.3 // of the rate as long as each met the objective
	near       = 1.03
	lowest     = 1.0 / 256 // of the ceiling: where nothing below is tried
)

// Next is the rate to offer after these probes; false when the search is over.
func (s Search) Next(done []Probe) (rate float64, more bool) {
	met, missed := s.bounds(done)
	switch {
	case !(s.Ceiling > 0) || math.IsInf(s.Ceiling, 1) || len(done) >= s.Probes:
		return 0, false
	case len(done) == 0:
		return firstShare * s.Ceiling, true
	case missed == nil:
		rate = math.Min(s.Ceiling, growth*met.RatePerSecond)
		return rate, rate > met.RatePerSecond
	case met == nil:
		rate = missed.RatePerSecond / 2
		return rate, rate >= lowest*s.Ceiling
	}
	return math.Sqrt(met.RatePerSecond * missed.RatePerSecond), missed.RatePerSecond > near*met.RatePerSecond
}

// bounds are the highest rate that met the objective and the lowest that did not.
func (s Search) bounds(done []Probe) (met, missed *Probe) {
	for i := range done {
		switch p := &done[i]; {
		case s.Meets(*p):
			if met == nil || p.RatePerSecond > met.RatePerSecond {
				met = p
			}
		case missed == nil || p.RatePerSecond < missed.RatePerSecond:
			missed = p
		}
	}
	return met, missed
}

// Capacity is the highest rate that meets the objective, by these probes; false
// when none did.
func (s Search) Capacity(done []Probe) (perSecond float64, met bool) {
	lo, hi := s.bounds(done)
	if lo == nil {
		return 0, false
	}
	if hi == nil || hi.RatePerSecond <= lo.RatePerSecond || hi.Seconds <= s.Seconds {
		return lo.RatePerSecond, true // nothing above missed it by its latency
	}
	share := math.Log(s.Seconds/lo.Seconds) / math.Log(hi.Seconds/lo.Seconds)
	return lo.RatePerSecond * math.Pow(hi.RatePerSecond/lo.RatePerSecond, share), true
}

package contest

import (
	"math"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Figures are the numbers of a trial that are compared. A trial without a throughput
// that has a logarithm has failed.
func (j Latency) Figures(t *journal.Trial) race.Trial {
	r := race.Trial{Saturated: t.Saturated, Failed: true}
	if t.Valid {
		r.Throughput, r.P99 = positive(t.ThroughputPerSecond), positive(j.Of(t))
		r.Failed = r.Throughput == 0
	}
	return r
}

// positive is a figure that has a logarithm, else 0: a journal may be anyone's.
func positive(x *float64) float64 {
	if x == nil || !(*x > 0) || math.IsInf(*x, 1) {
		return 0
	}
	return *x
}

// offered is the rate of the trial's open loop, where its throughput is counted as that
// is; 0: there is none.
func offered(t *journal.Trial) (rate float64) {
	for i := range t.Phases {
		if p := &t.Phases[i]; p.Mode == journal.ModeOpen && p.RatePerSecond != nil && t.Valid && t.ThroughputUnit == "requests" {
			rate = *p.RatePerSecond
		}
	}
	return rate
}

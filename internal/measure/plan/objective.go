package plan

import (
	"math"
	"time"

	"github.com/procfit/procfit/internal/verdict/slo"
)

const (
	// probes are the rates that a trial may try: with the first at seven tenths of
	// what the closed loop reached, that many narrow the answer to some percent.
	probes = 7
	// quotaProbe is how long a rate is tried under a quota: 30 periods of it.
	quotaProbe = 3 * time.Second
	// beyondQuantile is how many requests are to lie beyond the objective's quantile,
	// where probeMost allows it.
	beyondQuantile = 10
	probeMost      = 5 * time.Second
)

// ProbeFor is how long a rate is tried; 0 is one that is not known yet.
func (s Spec) ProbeFor(rate float64, quota bool) time.Duration {
	long := s.Load.Duration / 2
	if !s.Load.Stretch {
		return long
	}
	if quota || s.Limited {
		long = max(long, quotaProbe)
	}
	if rate > 0 {
		ms := math.Ceil(1000 * beyondQuantile / (1 - s.Load.SLO.Quantile) / rate)
		long = max(long, time.Duration(math.Min(ms, float64(probeMost.Milliseconds())))*time.Millisecond)
	}
	return long
}

// Search is how a trial looks for the highest rate that meets the objective, below
// what its closed loop reached.
func (s Spec) Search(ceiling float64) slo.Search {
	return slo.Search{Objective: *s.Load.SLO, Ceiling: ceiling, Floor: 1 / s.ProbeFor(0, false).Seconds(), Probes: probes}
}

// searchTakes is the time of a trial's probes, the most.
func (s Spec) searchTakes(quota bool) time.Duration {
	return probes * (s.Load.OpenHead() + s.ProbeFor(0, quota))
}

func (s Spec) checkObjective() *FieldError {
	if s.Load.SLO != nil && !s.OpenLoop() {
		return Wrong("slo", " is for servers under procfit's own load: it chooses the rates")
	}
	return nil
}

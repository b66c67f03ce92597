package plan

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
)

const (
	// openHead is the beginning of an open loop that is in no figure: with the reading
	// of /proc it made most of what a p99 strayed.
	openHead = 300 * time.Millisecond
	OpenMost = 11 * time.Second // of a loop that is as long as its p99 needs, with its head
)

// OpenHead is how long the open loop runs before its measured time starts.
func (l Load) OpenHead() time.Duration { return min(openHead, l.Duration/3) }

// ClosedFor is how long the closed loop is measured: half of the duration or, where the
// user gave none, as long as enough of that many collections per second take.
func (s Spec) ClosedFor(collections float64) time.Duration {
	half := s.Load.Duration / 2
	if !s.Load.Stretch {
		return half
	}
	return min(max(half, lasting(journal.LeastCollections, collections)), OpenMost-s.Load.OpenHead())
}

// lasting is how long so many take, at least, at that many per second; 0 where that is not known.
func lasting(n, perSecond float64) time.Duration {
	if perSecond <= 0 {
		return 0
	}
	return time.Duration(math.Min(math.Ceil(n/perSecond*1000), 1e12)) * time.Millisecond // 30 years: a Duration holds it
}

// OpenFor is how long the open loop of a task is measured: at its rate, 0 if that is not
// known yet, which a pilot's collections follow.
func (s Spec) OpenFor(rate float64, quota bool, collections float64) time.Duration {
	quota = quota || s.Limited
	half := s.Load.Duration / 2
	if s.Target.Attach != nil { // which has no closed loop
		half = s.Load.Duration
	}
	if !s.Load.Stretch {
		return half
	}
	share := cmp.Or(s.Load.RateShare, capacityShare)
	return min(max(half, enough(rate, quota), lasting(journal.LeastCollections, share*collections)), OpenMost-s.Load.OpenHead())
}

// enough is the time in which a loop at a rate holds what its p99 needs.
func enough(rate float64, quota bool) time.Duration {
	long := lasting(journal.LeastRequests, rate)
	if quota {
		long = max(long, journal.LeastPeriods*journal.QuotaPeriod)
	}
	return long
}

// Shortfall is why the p99 of an open loop will not be judged.
type Shortfall struct {
	Code     journal.UnjudgedCode
	Have     int64         // requests, or periods of the quota
	In       time.Duration // of the loop
	Duration time.Duration // of a trial, as Load.Duration is, that would do
}

// Periods reports that periods of the quota are too few, and not requests.
func (s Shortfall) Periods() bool { return s.Code == journal.UnjudgedFewPeriods }

// Shortfall tells before the trials what a p99 at a rate will lack to be judged; nil:
// nothing. A rate of 0 is not known yet.
func (s Spec) Shortfall(rate float64, quota bool) *Shortfall {
	quota = quota || s.Limited
	span, would := s.OpenFor(rate, quota, 0), enough(rate, quota)
	switch {
	case s.Load.SLO != nil:
		return nil // no rate is common to all, and no latency is compared
	case s.OpenLoop() && s.Target.Attach == nil:
		would *= 2 // half of a trial is its closed loop
	case s.OpenLoop():
	case strings.Contains(s.Load.Command, "{rate}"):
		span = s.Load.Duration
	default:
		return nil // no latency is judged
	}
	short := &Shortfall{In: span, Duration: roundUp(would)}
	short.Code, short.Have = journal.UnjudgedFewRequests, int64(math.Ceil(rate*span.Seconds()))
	if rate > 0 && short.Have < journal.LeastRequests {
		return short
	}
	short.Code, short.Have = journal.UnjudgedFewPeriods, int64(span/journal.QuotaPeriod)
	if quota && short.Have < journal.LeastPeriods {
		return short
	}
	return nil
}

func roundUp(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// Each is the expected time of a trial, the mean over quotas; 0: only a first one can tell.
func (s Spec) Each() time.Duration { return s.EachAt(s.Load.Rate) }

// EachAtMost is Each if the pilots find a low rate, at which the open loop is as long as it may be.
func (s Spec) EachAtMost() time.Duration {
	if s.Load.Rate > 0 {
		return s.Each()
	}
	const lowest = 1e-9 // req/s
	return s.EachAt(lowest)
}

// EachAt is Each for an open loop with that rate; 0: it is not known yet.
func (s Spec) EachAt(rate float64) time.Duration {
	if !s.Target.IsServer() {
		return s.TrialTakes
	}
	const startAndStop = 200 * time.Millisecond
	each := s.Load.Warmup + startAndStop
	if s.Load.Command != "" {
		return each + s.Load.Duration
	}
	if s.Target.Attach == nil {
		each += s.Load.Settle() + s.Load.Duration/2
	}
	open := func(quota bool) time.Duration { return s.Load.OpenHead() + s.OpenFor(rate, quota, 0) }
	if s.Load.SLO != nil {
		open = func(quota bool) time.Duration { return probes * (s.Load.OpenHead() + s.ProbeFor(0, quota)) }
	}
	if len(s.Quotas) == 0 {
		return each + open(false)
	}
	var all time.Duration
	for _, q := range s.Quotas {
		all += open(q != nil)
	}
	return each + all/time.Duration(len(s.Quotas))
}

const (
	// probes are the rates that a trial may try: with the first at seven tenths of
	// what the closed loop reached, that many narrow the answer to some percent.
	probes         = 7
	quotaProbe     = 3 * time.Second // of a rate under a quota: 30 periods of it
	beyondQuantile = 10              // requests beyond the objective's quantile, where probeMost allows it
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
	return max(long, min(lasting(beyondQuantile/(1-s.Load.SLO.Quantile), rate), probeMost))
}

// Search is how a trial looks for the highest rate that meets the objective.
func (s Spec) Search(ceiling float64) slo.Search {
	return slo.Search{Objective: *s.Load.SLO, Ceiling: ceiling, Floor: 1 / s.ProbeFor(0, false).Seconds(), Probes: probes}
}

func (s Spec) checkObjective() *FieldError {
	if s.Load.SLO != nil && !s.OpenLoop() {
		return Wrong("slo", " is for servers under procfit's own load: it chooses the rates")
	}
	return nil
}

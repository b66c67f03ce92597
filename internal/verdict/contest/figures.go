package contest

import (
	"math"
	"slices"

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

// byItself is the GOMAXPROCS that the group's program comes to where it is unset: as
// the first trial that tells it has it.
func byItself(h journal.Header, trials []journal.Trial, g journal.GroupKey) int {
	for i := range trials {
		t := &trials[i]
		if !t.Valid || t.Arm.Procs != nil || t.Arm.Group() != g || t.Arm.Variant != "" || len(t.ObservedProcs) == 0 {
			continue
		}
		if first := t.ObservedProcs[0]; first != nil && *first > 0 && !slices.ContainsFunc(t.ObservedProcs, func(p *int) bool { return p == nil || *p != *first }) {
			return *first
		}
	}
	// Since Go 1.25: the quota rounded up, at least 2, and never more than the CPUs.
	cpus := int(math.Ceil(usableCPUs(h, nil)))
	if g.Limited {
		return max(1, min(cpus, max(2, int(math.Ceil(g.QuotaCPUs)))))
	}
	return max(1, cpus)
}

package contest

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Crowded is the share of the machine's CPUs from which on the target and its load
// together leave hardly any to spare.
const Crowded = 0.9

// mostByLatency is the largest GOMAXPROCS of a group that may be preferred for its
// latency; 0: no bound. A load generator on the target's own CPUs takes the CPU of a
// thread that holds a P, and with spare Ps another thread continues: beyond the CPUs the
// latency is that of the arrangement and not of the program. Under a CPU limit that
// leaves enough CPUs to the load, it takes none of the target's.
func mostByLatency(h journal.Header, g journal.GroupKey, trials []*journal.Trial) int {
	if !Shared(h) {
		return 0
	}
	effective := EffectiveCPUs(h, g, trials)
	if g.Limited && effective*float64(max(1, g.Replicas))+mostLoad(trials) <= Crowded*MachineCPUs(h, trials) {
		return 0
	}
	return max(1, int(math.Ceil(effective)))
}

// mostLoad is the CPUs that the load generator used, of the setting where their median is
// the greatest.
func mostLoad(trials []*journal.Trial) (most float64) {
	measured := slices.DeleteFunc(slices.Clone(trials), func(t *journal.Trial) bool { return t.Role != journal.RoleMeasure })
	for _, of := range bySetting(measured) {
		most = max(most, orZero(median(of, loadOf)))
	}
	return most
}

// Shared tells whether the load ran on CPUs of the target.
func Shared(h journal.Header) bool {
	return h.Load.Arranged() == journal.ArrangementShared
}

// MachineCPUs is how many CPUs any program on the target's host may use: those of the
// host, or of the tightest limit around the target that the trials counted.
func MachineCPUs(h journal.Header, trials []*journal.Trial) float64 {
	n := h.TargetHost.EffectiveCPUs
	if n <= 0 {
		n = float64(max(1, h.TargetHost.CPUs))
	}
	for _, t := range trials {
		for _, l := range t.OuterLimits {
			if t.Role == journal.RoleMeasure && l.CPUs > 0 {
				n = math.Min(n, l.CPUs)
			}
		}
	}
	return n
}

// usableCPUs is how many of them the target may use without the group's CPU limit.
func usableCPUs(h journal.Header, trials []*journal.Trial) float64 {
	n := MachineCPUs(h, trials)
	if pinned := len(h.Target.Had()); pinned > 0 {
		n = math.Min(n, float64(pinned))
	}
	return n
}

// EffectiveCPUs is how many CPUs one replica of the group's target may use.
func EffectiveCPUs(h journal.Header, g journal.GroupKey, trials []*journal.Trial) float64 {
	n := usableCPUs(h, trials)
	if g.Limited {
		n = math.Min(n, g.QuotaCPUs)
	}
	return n
}

package stat

import (
	"slices"

	"github.com/procfit/procfit/internal/journal"
)

// evidence is the medians of what the kernel counted. Usable is the CPUs that
// all replicas of the arm together could have used.
func evidence(trials []*journal.Trial, machine, replicas, usable float64) Evidence {
	e := Evidence{
		CPUs: medianRate(trials, cpuSeconds),
		VoluntaryPerSecond: medianRate(trials, func(t *journal.Trial) *float64 {
			if t.ContextSwitches == nil {
				return nil
			}
			return new(float64(t.ContextSwitches.Voluntary))
		}),
		InvoluntaryPerSecond: medianRate(trials, func(t *journal.Trial) *float64 {
			if t.ContextSwitches == nil {
				return nil
			}
			return new(float64(t.ContextSwitches.Involuntary))
		}),
		RunQueueWaitRatio: medianRate(trials, func(t *journal.Trial) *float64 { return t.RunQueueWaitSeconds }),
		ThreadsMax: middle(trials, func(t *journal.Trial) *float64 {
			if t.ThreadsMax == nil {
				return nil
			}
			return new(float64(*t.ThreadsMax))
		}),
		ThrottledPeriodsRatio: middle(trials, func(t *journal.Trial) *float64 {
			if t.Cgroup == nil || t.Cgroup.Periods <= 0 {
				return nil
			}
			return new(float64(t.Cgroup.ThrottledPeriods) / float64(t.Cgroup.Periods))
		}),
		ThrottledRatio: over(medianRate(trials, func(t *journal.Trial) *float64 {
			if t.Cgroup == nil {
				return nil
			}
			return &t.Cgroup.ThrottledSeconds
		}), replicas),
		StealRatio: over(medianRate(trials, stealSeconds), machine),
		LoadCPUs:   medianRate(trials, loadSeconds),
		SendLagP99: middle(trials, func(t *journal.Trial) *float64 {
			if t.Load == nil {
				return nil
			}
			return t.Load.SendLagP99Seconds
		}),
	}
	e.CPUUtilisation = over(e.CPUs, usable)
	for _, t := range trials {
		if t.Valid && t.Load != nil {
			e.Dropped += t.Load.Dropped
		}
	}
	return e
}

func cpuSeconds(t *journal.Trial) *float64 {
	if t.CPUSeconds == nil {
		return nil
	}
	return new(t.CPUSeconds.User + t.CPUSeconds.System)
}

func stealSeconds(t *journal.Trial) *float64 {
	if t.HostUse == nil {
		return nil
	}
	return &t.HostUse.StealSeconds
}

func loadSeconds(t *journal.Trial) *float64 {
	if t.Load == nil {
		return nil
	}
	return &t.Load.CPUSeconds
}

// medianRate is the median of a counter by the second that it spans.
func medianRate(trials []*journal.Trial, f figure) *float64 {
	return middle(trials, func(t *journal.Trial) *float64 {
		x := f(t)
		if x == nil || t.MeasuredSeconds <= 0 {
			return nil
		}
		return new(*x / t.MeasuredSeconds)
	})
}

func middle(trials []*journal.Trial, f figure) *float64 {
	v := values(trials, f)
	if len(v) == 0 {
		return nil
	}
	slices.Sort(v)
	return new(median(v))
}

func over(x *float64, by float64) *float64 {
	if x == nil || by <= 0 {
		return nil
	}
	return new(*x / by)
}

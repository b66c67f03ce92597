package local

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// addUsage adds the counters of another run to those of the runs before, but for the
// machine's, which are of the whole trial.
func addUsage(sum *journal.Usage, u journal.Usage) {
	sum.MeasuredSeconds += u.MeasuredSeconds
	if u.CPUSeconds != nil {
		if sum.CPUSeconds == nil {
			sum.CPUSeconds = &journal.CPUSeconds{}
		}
		sum.CPUSeconds.User += u.CPUSeconds.User
		sum.CPUSeconds.System += u.CPUSeconds.System
	}
	if u.ContextSwitches != nil {
		if sum.ContextSwitches == nil {
			sum.ContextSwitches = &journal.ContextSwitches{}
		}
		sum.ContextSwitches.Voluntary += u.ContextSwitches.Voluntary
		sum.ContextSwitches.Involuntary += u.ContextSwitches.Involuntary
	}
	if u.BesideCPUSeconds != nil {
		sum.BesideCPUSeconds = plus(sum.BesideCPUSeconds, *u.BesideCPUSeconds)
	}
	if u.RunQueueWaitSeconds != nil {
		sum.RunQueueWaitSeconds = plus(sum.RunQueueWaitSeconds, *u.RunQueueWaitSeconds)
	}
	if u.ThreadsMax != nil && (sum.ThreadsMax == nil || *sum.ThreadsMax < *u.ThreadsMax) {
		sum.ThreadsMax = u.ThreadsMax
	}
	if m := u.Memory; m != nil {
		if sum.Memory == nil {
			sum.Memory = &journal.Memory{}
		}
		sum.Memory.PeakRSSBytes = max(sum.Memory.PeakRSSBytes, m.PeakRSSBytes)
	}
	if u.GC != nil {
		if sum.GC == nil {
			sum.GC = &journal.GC{}
		}
		heap := max(sum.GC.HeapBytes, u.GC.HeapBytes) // one run after the other
		sum.GC.Add(*u.GC)
		sum.GC.HeapBytes = heap
	}
	if u.Cgroup != nil {
		if sum.Cgroup == nil {
			sum.Cgroup = &journal.Cgroup{}
		}
		addThrottling(sum.Cgroup, *u.Cgroup)
	}
	for _, l := range u.OuterLimits {
		i := slices.IndexFunc(sum.OuterLimits, func(have journal.OuterLimit) bool { return have.Group == l.Group && have.CPUs == l.CPUs })
		if i < 0 {
			sum.OuterLimits = append(sum.OuterLimits, l)
			continue
		}
		addThrottling(&sum.OuterLimits[i].Cgroup, l.Cgroup)
	}
}

func addThrottling(sum *journal.Cgroup, c journal.Cgroup) {
	sum.Periods += c.Periods
	sum.ThrottledPeriods += c.ThrottledPeriods
	sum.ThrottledSeconds += c.ThrottledSeconds
}

func plus(sum *float64, x float64) *float64 {
	if sum == nil {
		return &x
	}
	*sum += x
	return sum
}

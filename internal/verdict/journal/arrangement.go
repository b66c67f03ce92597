package journal

import (
	"slices"

	"github.com/procfit/procfit/internal/host/cpuset"
)

// Sizing is what the load cost in the trials that chose its CPUs, before the pilots:
// target and load still shared all CPUs then.
type Sizing struct {
	RequestsPerSecond    float64 `json:"requests_per_second"`     // the most that a trial answered
	CPUSecondsPerRequest float64 `json:"cpu_seconds_per_request"` // of the load, the most of a trial
}

// Arranged is how load and target share CPUs, in a journal of before by the lists of
// CPUs that the user gave; "" where there is no load.
func (h Header) Arranged() Arrangement {
	switch {
	case h.Load.Arrangement != nil:
		return *h.Load.Arrangement
	case h.Target.Kind != KindServer:
		return ""
	case !h.Load.SameMachine:
		return ArrangementElsewhere
	}
	return Arrange(h.Target.ServerCPUs, h.Load.LoadCPUs)
}

// Arrange is the arrangement of a target and a load on one machine, by their lists of
// CPUs, of which an empty one is all.
func Arrange(target, load string) Arrangement {
	t, err := cpuset.Parse(target)
	l, err2 := cpuset.Parse(load)
	both := err == nil && err2 == nil && len(t) > 0 && len(l) > 0
	if both && !slices.ContainsFunc(l, func(cpu int) bool { return slices.Contains(t, cpu) }) {
		return ArrangementApart
	}
	return ArrangementShared
}

// TargetCPUs is the list of CPUs that the target ran on; empty: all that procfit had.
func (h Header) TargetCPUs() string {
	if h.Target.CPUs != "" {
		return h.Target.CPUs
	}
	return h.Target.ServerCPUs
}

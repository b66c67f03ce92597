package journal

import (
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

// Arrange is the arrangement of a target and a load on one machine, by their
// CPUs, of which none are all.
func Arrange(target, load cpuset.Set) Arrangement {
	if len(target) > 0 && len(load) > 0 && !target.Overlaps(load) {
		return ArrangementApart
	}
	return ArrangementShared
}

// Had are the CPUs that the target ran on; none: all that procfit had.
func (t Target) Had() cpuset.Set {
	if len(t.CPUs) > 0 {
		return t.CPUs
	}
	return t.ServerCPUs
}

// Had are the CPUs that the load generator ran on; none: all that procfit had.
func (l Load) Had() cpuset.Set {
	if len(l.CPUs) > 0 {
		return l.CPUs
	}
	return l.LoadCPUs
}

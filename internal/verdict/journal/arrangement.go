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

// Arranged is how load and target share CPUs; "" where there is no load.
func (l Load) Arranged() Arrangement {
	if l.Arrangement == nil {
		return ""
	}
	return *l.Arrangement
}

// OnTargetHost tells whether the load ran on the machine of the target.
func (l Load) OnTargetHost() bool {
	return l.Arranged() == ArrangementShared || l.Arranged() == ArrangementApart
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

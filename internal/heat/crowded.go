package heat

import "github.com/procfit/procfit/internal/journal"

// CrowdedFrom is the share of the CPUs' time from which on a target that does not answer
// may merely have had too few of them.
const CrowdedFrom = 0.2

// Others is the share of the CPU time that other programs took, of the CPUs that the
// target may use; 0 where that was not counted.
func Others(u *journal.Usage) float64 {
	if u == nil || u.HostUse == nil || u.HostUse.OtherCPUSeconds == nil || !(u.MeasuredSeconds > 0) || u.HostUse.TargetCPUs < 1 {
		return 0
	}
	return min(1, *u.HostUse.OtherCPUSeconds/(u.MeasuredSeconds*float64(u.HostUse.TargetCPUs)))
}

// MostOthers is the share that they took at most, of a trial or of one of its phases.
func MostOthers(t *journal.Trial) float64 {
	most := Others(&t.Usage)
	for i := range t.Phases {
		most = max(most, Others(t.Phases[i].Usage))
	}
	return most
}

package trial

import "github.com/procfit/procfit/internal/verdict/journal"

const (
	// stolenMuch is the share of the CPUs' time that a hypervisor takes for a target that
	// does not answer to be no fault of its own.
	stolenMuch = 0.2
	// stolenMost is the share from which on figures are the hypervisor's, and not the
	// program's.
	stolenMost = 0.5
	// tellable is the span, in seconds, below which the kernel's ticks of 10 ms and one
	// burst do not tell what was taken from all of a trial.
	tellable = 0.5
)

// stolen is the share of the CPU time that a hypervisor took, of the CPUs that the
// target may use.
func stolen(u *journal.Usage) float64 {
	if u == nil || u.HostUse == nil || u.MeasuredSeconds <= 0 || u.HostUse.TargetCPUs < 1 {
		return 0
	}
	return min(1, u.HostUse.StealSeconds/(u.MeasuredSeconds*float64(u.HostUse.TargetCPUs)))
}

// judgeStolen says whether a hypervisor took so much of the CPU time that a trial tells
// nothing of its program. Less than that is noise, which falls on all settings alike.
func judgeStolen(t *journal.Trial) error {
	most, where := 0.0, ""
	look := func(u *journal.Usage, of string) {
		if share := stolen(u); share > most && u.MeasuredSeconds >= tellable {
			most, where = share, of
		}
	}
	for i := range t.Phases {
		if p := &t.Phases[i]; p.Mode != journal.ModeBatch {
			look(p.Usage, string(p.Mode)+" loop")
		}
	}
	look(&t.Usage, "trial")
	if most < stolenMost {
		return nil
	}
	return Invalid(journal.InvalidStolen, "the hypervisor took %.0f %% of the CPU time of the %s; measure when the machine has its CPUs", 100*most, where)
}

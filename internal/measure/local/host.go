package local

import (
	"cmp"
	"context"
	"os"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/host/topology"
	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// host is a reading of the machine.
type host struct {
	at      time.Time
	machine observe.CPU   // all CPUs
	cpus    observe.CPU   // those that the target may use
	self    time.Duration // CPU time of procfit itself
	ended   time.Duration // of its children that have ended, with all that was theirs
	heat    int64         // how often the target's CPUs were too hot; -1: not known
}

func (r *runner) readHost() (h host, err error) {
	h.at, h.self, h.ended, h.heat = time.Now(), ownCPU(), endedCPU(), -1
	if n, known := topology.Heat(os.DirFS("/sys"), r.cpus); known {
		h.heat = n
	}
	if h.machine, err = observe.CPUTime(); err == nil {
		h.cpus, err = observe.CPUTime(r.cpus...)
	}
	return h, err
}

const (
	othersTime = 300 * time.Millisecond
	company    = 0.1 // of the target's CPUs: from then on, others are reported before anything is measured
)

// Matter reports whether what other programs use is worth a word before anything is measured.
func Matter(o plan.Others) bool { return o.CPUs >= company*o.OfCPUs && o.OfCPUs > 0 }

// Others is what other programs use just now of the CPUs that procfit may use.
func Others(ctx context.Context) plan.Others {
	return (&runner{cpus: topology.Allowed()}).Others(ctx)
}

func (r *runner) Others(ctx context.Context) plan.Others {
	before, err := r.readHost()
	if err != nil {
		return plan.Others{} // each trial says so
	}
	was := observe.AllTimes()
	if wait.For(ctx, othersTime) != nil {
		return plan.Others{}
	}
	now, err := r.readHost()
	if err != nil {
		return plan.Others{}
	}
	between := now.at.Sub(before.at)
	busy := now.cpus.Since(before.cpus).Busy - r.sharedPart(now.self-before.self)
	return plan.Others{
		CPUs: max(0, busy.Seconds()/between.Seconds()), OfCPUs: float64(len(r.cpus)),
		Busiest: observe.Busiest(was, observe.AllTimes(), between),
	}
}

// hostSince is the machine's state since an earlier reading. What was busy on the
// target's CPUs and was neither the target nor its load was other programs.
func (r *run) hostSince(before host, targetCPU, loadCPU time.Duration) (*journal.HostUse, error) {
	now, err := r.readHost()
	if err != nil {
		return nil, err
	}
	all, ours := now.machine.Since(before.machine), now.cpus.Since(before.cpus)
	use := &journal.HostUse{StealSeconds: all.Steal.Seconds(), TargetStealSeconds: new(ours.Steal.Seconds()), BusyRatio: all.BusyRatio, TargetCPUs: len(r.cpus)}
	if before.heat >= 0 && now.heat >= before.heat {
		use.HeatTimes = new(now.heat - before.heat)
	}
	known := targetCPU + r.sharedPart(now.self-before.self+loadCPU)
	trial.CountOthers(use, max(0, (ours.Busy-known).Seconds()), now.at.Sub(before.at))
	return use, nil
}

// hostOfRuns is the machine's state over a batch program's measured runs. Whatever
// procfit started meanwhile has ended, its supervisors too: none of it is another program,
// and neither is the neighbour. What was between the runs is taken out by its share of the
// time, but for what prepares them, see skip.
func (r *run) hostOfRuns() (*journal.HostUse, error) {
	if r.runs.err != nil {
		return nil, r.runs.err
	}
	now, err := r.readHost()
	if err != nil {
		return nil, err
	}
	before := r.runs.began
	ours := now.ended - before.ended
	if beside := r.neighbourCPUSince(r.runs.beside); beside != nil {
		ours += *beside
	}
	use, err := r.hostSince(before, ours, 0)
	if err != nil {
		return nil, err
	}
	if span := now.at.Sub(before.at).Seconds(); span > r.runs.seconds {
		share := r.runs.seconds / span
		use.StealSeconds *= share
		*use.TargetStealSeconds *= share
		for _, x := range []*float64{use.OtherCPUSeconds, use.MostOtherCPUSeconds} {
			if x != nil {
				*x *= share
			}
		}
	}
	return use, nil
}

// skip takes the time until end is called out of what is counted over the runs: what prepares a run may
// use other CPUs than the target's, and nobody knows how much of its CPU time was there.
func (r *run) skip() (end func()) {
	if r.runs == nil {
		return func() {} // of a run that warms up
	}
	from, err := r.readHost()
	beside := r.neighbourCPU()
	return func() {
		to, failed := r.readHost()
		began := &r.runs.began
		r.runs.err = cmp.Or(r.runs.err, err, failed)
		began.at = began.at.Add(to.at.Sub(from.at))
		began.machine, began.cpus = began.machine.After(from.machine, to.machine), began.cpus.After(from.cpus, to.cpus)
		began.self, began.ended = began.self+to.self-from.self, began.ended+to.ended-from.ended
		if used := r.neighbourCPUSince(beside); used != nil && r.runs.beside != nil {
			*r.runs.beside += *used
		}
	}
}

// sharedPart is how much of the load's CPU time fell on the target's CPUs: of a load
// that may run anywhere, their share.
func (r *runner) sharedPart(cpu time.Duration) time.Duration {
	on := r.spec.LoadCPUs()
	if on == nil {
		on = topology.Allowed()
	}
	if len(on) == 0 || len(r.cpus) == 0 {
		return cpu
	}
	shared := 0
	for _, n := range on {
		if slices.Contains(r.cpus, n) {
			shared++
		}
	}
	return cpu * time.Duration(shared) / time.Duration(len(on))
}

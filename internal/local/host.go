package local

import (
	"slices"
	"time"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/observe"
)

// host is a reading of the machine.
type host struct {
	at      time.Time
	machine observe.CPU   // all CPUs
	cpus    observe.CPU   // those that the target may use
	self    time.Duration // CPU time of procfit itself
}

func (r *run) readHost() (h host, err error) {
	h.at, h.self = time.Now(), ownCPU()
	if h.machine, err = observe.MachineCPU(); err == nil {
		h.cpus, err = observe.CPUTime(r.cpus)
	}
	return h, err
}

// shortest is the span below which the kernel's ticks of 10 ms cannot tell what
// other programs used.
const shortest = 500 * time.Millisecond

// hostSince is the machine's state since an earlier reading. What was busy on the
// target's CPUs and was neither the target nor its load was other programs.
func (r *run) hostSince(before host, targetCPU, loadCPU time.Duration) (*journal.HostUse, error) {
	now, err := r.readHost()
	if err != nil {
		return nil, err
	}
	all := now.machine.Since(before.machine)
	use := &journal.HostUse{StealSeconds: all.Steal.Seconds(), BusyRatio: all.BusyRatio, TargetCPUs: len(r.cpus)}
	if now.at.Sub(before.at) >= shortest {
		ours := targetCPU + r.sharedPart(now.self-before.self+loadCPU)
		use.OtherCPUSeconds = new(max(0, (now.cpus.Since(before.cpus).Busy - ours).Seconds()))
	}
	return use, nil
}

// sharedPart is how much of the load's CPU time fell on the target's CPUs: of a load
// that may run anywhere, their share.
func (r *run) sharedPart(cpu time.Duration) time.Duration {
	on := r.spec.Load.CPUs
	if on == nil {
		on = affinity()
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

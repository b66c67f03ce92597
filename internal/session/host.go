package session

import (
	"os"
	"runtime"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/procstat"
	"github.com/procfit/procfit/internal/sweep"
	"github.com/procfit/procfit/maxprocs/facts"
)

// ThisHost is the machine that procfit runs on.
func ThisHost() journal.Host {
	name, _ := os.Hostname()
	h := journal.Host{Hostname: name, OS: runtime.GOOS, Arch: runtime.GOARCH}
	if machine, err := procstat.Host(); err == nil {
		h.CPUModel, h.CPUs, h.Kernel, h.MemoryBytes = machine.CPUModel, machine.CPUs, machine.Kernel, machine.MemoryBytes
	}
	f := facts.Read()
	h.AffinityCPUs, h.EffectiveCPUs, h.CgroupMode = f.AffinityCPUs(), f.EffectiveCPUs(), string(f.CgroupMode())
	return h
}

// SameHost tells whether the trials of a run begun on one host may go on on the
// other.
func SameHost(a, b journal.Host) bool {
	return a.CPUModel == b.CPUModel && a.CPUs == b.CPUs && a.Kernel == b.Kernel && a.EffectiveCPUs == b.EffectiveCPUs
}

// limited tells whether a CPU limit around procfit is less than the CPUs of the target.
func limited(spec sweep.Spec, h journal.Host) bool {
	cpus := h.AffinityCPUs
	if given := len(spec.Target.CPUs); given > 0 {
		cpus = min(cpus, given)
	}
	return h.EffectiveCPUs > 0 && h.EffectiveCPUs < float64(cpus)
}

package session

import (
	"os"
	"runtime"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/procstat"
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
	h.AffinityCPUs, h.EffectiveCPUs, h.CgroupMode = f.AffinityCPUs(), f.EffectiveCPUs(), f.CgroupMode()
	return h
}

// SameHost tells whether the trials of a run begun on one host may go on on the
// other.
func SameHost(a, b journal.Host) bool {
	return a.CPUModel == b.CPUModel && a.CPUs == b.CPUs && a.Kernel == b.Kernel && a.EffectiveCPUs == b.EffectiveCPUs
}

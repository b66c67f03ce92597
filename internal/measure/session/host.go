package session

import (
	"os"
	"runtime"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/host/topology"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/maxprocs/facts"
)

// ThisHost is the machine that procfit runs on.
func ThisHost() journal.Host {
	name, _ := os.Hostname()
	h := journal.Host{Hostname: name, OS: runtime.GOOS, Arch: runtime.GOARCH}
	if machine, err := procstat.Host(); err == nil {
		h.CPUModel, h.CPUs, h.Kernel, h.MemoryBytes = machine.CPUModel, machine.CPUs, machine.Kernel, machine.MemoryBytes
	}
	h.Topology = topologyOf(topology.Read(os.DirFS("/sys"), topology.Allowed()))
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
func limited(spec plan.Spec, h journal.Host) bool {
	cpus := h.AffinityCPUs
	if given := len(spec.Target.CPUs); given > 0 {
		cpus = min(cpus, given)
	}
	return h.EffectiveCPUs > 0 && h.EffectiveCPUs < float64(cpus)
}

// topologyOf is a machine as the journal has it; nil where nothing is known.
func topologyOf(m topology.Machine) *journal.Topology {
	if len(m.Cores) == 0 {
		return nil
	}
	t := &journal.Topology{
		Sockets: m.Sockets(), Cores: len(m.Cores), ThreadsPerCore: m.Threads(), Nodes: []journal.Node{},
		PerformanceCPUs: m.Performance, EfficiencyCPUs: m.Efficiency,
	}
	for _, n := range m.Nodes {
		t.Nodes = append(t.Nodes, journal.Node{ID: n.ID, CPUs: n.CPUs})
	}
	return t
}

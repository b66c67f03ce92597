package lab

import (
	"maps"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// header is what a journal's first line says of CPUs.
func (m Measured) header() journal.Header {
	return journal.Header{Target: m.Result.Target, Load: m.Result.Load}
}

// cpus is how many CPUs the program may use without a quota: all that there are, or
// those that it was given.
func (m Measured) cpus() float64 {
	n := m.Result.Host.EffectiveCPUs
	if given := len(m.header().Target.Had()); given > 0 {
		return math.Min(n, float64(given))
	}
	return n
}

// separateLoad reports whether the load ran on other CPUs than the program.
func (m Measured) separateLoad() bool {
	how := m.header().Load.Arranged()
	return how == journal.ArrangementApart || how == journal.ArrangementElsewhere
}

// machine is what an experiment's stages had of the machine; all have the same.
type machine struct {
	cpus         float64 // that the program may use
	separateLoad bool    // the load has others
}

// machineOf is that of a run on a machine of that many CPUs.
func machineOf(r Results, cpus float64) machine {
	for _, id := range slices.Sorted(maps.Keys(r)) {
		if m := r[id]; m.Result != nil {
			return machine{math.Min(cpus, m.cpus()), m.separateLoad()}
		}
	}
	return machine{cpus: cpus}
}

// needs is how many CPUs the program itself must have: without those of the load,
// where that has its own.
func (r machine) needs(h Hypothesis) float64 {
	if r.separateLoad {
		return h.Needs - h.LoadCPUs
	}
	return h.Needs
}

// place puts the program, and a server's load, where the user wants them.
func (s *Stage) place(o Options) {
	s.Target.CPUs = o.ServerCPUs
	if !s.served() {
		return
	}
	s.Load.CPUs, s.Load.Command = o.LoadCPUs, o.Load
	if len(o.ServerCPUs)+len(o.LoadCPUs) > 0 {
		s.Load.Shared = false
	}
}

// served tells a stage of a server: batch programs have no warm-up.
func (s *Stage) served() bool { return s.Load.Warmup > 0 }

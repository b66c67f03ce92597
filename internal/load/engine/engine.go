package engine

import "github.com/procfit/procfit/internal/load"

// engine carries out runs.
type engine interface {
	// workers makes those of a run; their work has not begun.
	workers(r *run) ([]worker, error)
}

// engineOf is the engine of a name that was checked.
func engineOf(name string) engine {
	if name == load.EngineRaw {
		return rawEngine()
	}
	return portable{}
}

// chooseThreads is the number of event loops. One thread carries about 100,000
// requests a second and leaves the other CPUs to the server, so the load takes
// a quarter of a shared machine, all CPUs that were set aside for it, and in an
// open loop no more than the rate asks for. procs bounds it since each running
// loop holds a P.
func chooseThreads(o load.Options, cpus, procs int) int {
	n := cpus / 4
	if len(o.CPUs) > 0 {
		n = len(o.CPUs)
	}
	if o.Rate > 0 {
		n = min(n, int(o.Rate/40_000)+1)
	}
	n = min(n, procs, 16)
	if o.Threads > 0 {
		n = o.Threads
	}
	return max(1, min(n, o.Connections))
}

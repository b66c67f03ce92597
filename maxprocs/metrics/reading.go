package metrics

import (
	"runtime"

	"github.com/procfit/procfit/maxprocs/facts"
)

// Reading is what is known of this process at one time.
type Reading struct {
	Procs    int      // GOMAXPROCS
	Affinity int      // CPUs that the process may run on; 0: not known
	Limit    float64  // the tightest CPU limit of all groups, in CPUs; 0: none is known
	File     string   // where that is written
	Unknown  []string // what could not be read, so that Limit may not be the tightest
	Groups   []Group  // with a limit, from the process's own upwards
}

// Group is a cgroup with a CPU limit, and how that has held it back since the group
// was made. Every process in the group and below it counts.
type Group struct {
	Dir  string
	CPUs float64
	facts.Throttling
}

// Read looks at this process, in 0.2 to 0.4 ms.
func Read() Reading { return reading(runtime.GOMAXPROCS(0), facts.Read()) }

// reading leaves out the throttling that cannot be read: kernels without quotas
// count none.
func reading(procs int, f facts.Facts) Reading {
	r := Reading{Procs: procs, Affinity: f.AffinityCPUs(), Unknown: f.Unknown()}
	if l, ok := f.Tightest(); ok {
		r.Limit, r.File = l.CPUs, l.File
	}
	for _, l := range f.Limits {
		if l.State != facts.Known {
			continue // without a limit nothing is counted
		}
		if t, err := l.Throttling(); err == nil {
			r.Groups = append(r.Groups, Group{Dir: l.Dir, CPUs: l.CPUs, Throttling: t})
		}
	}
	return r
}

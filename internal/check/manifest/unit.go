package manifest

import (
	"fmt"
	"math"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// unit is one program as a file places it: a container, a service, a task.
type unit struct {
	at      rule.Place // of the container or service
	env     variable   // GOMAXPROCS
	godebug variable
	limits  []facts.Limit // its own first; none: the file does not tell
	cpus    int           // that it may run on, where the file binds it to some; 0: not
	written rule.Written

	started  map[string]variable // what its command sets
	misspelt []misspeltName

	program check.Program
	image   string // that it is started from; "" where it is none, or not written
	command string // the program that is started, where the file says so
	beside  bool   // the program was found among the files
	isGo    bool   // GOMAXPROCS, another variable of the runtime, or a version is named
}

// misspeltName is a variable that is meant to be GOMAXPROCS.
type misspeltName struct {
	name string
	variable
}

// variable is one of the environment.
type variable struct {
	state  facts.State // Known, Absent, or Unreadable: it is set to what is not known
	value  string
	why    string // it is not known
	source string // where it is set, in words: "env", "ConfigMap api"
	line   int    // where it stands
	column int
	last   int // the last line of it
}

// absent is a variable that is not set.
func absent() variable { return variable{state: facts.Absent} }

// fact is the variable for the rules.
func (v variable) fact() facts.Fact {
	switch v.state {
	case facts.Known:
		return facts.Fact{State: facts.Known, Raw: v.value, File: v.source}
	case facts.Unreadable:
		return facts.Fact{State: facts.Unreadable, Error: v.why, File: v.source}
	}
	return facts.Fact{State: facts.Absent}
}

// runtimeVariables are those that only a Go program reads.
var runtimeVariables = map[string]bool{"GOMAXPROCS": true, "GODEBUG": true, "GOGC": true, "GOMEMLIMIT": true, "GOTRACEBACK": true}

// period is that of the kernel's CPU bandwidth control as container runtimes set it, in
// microseconds.
const period = 100_000

// leastQuota is the shortest quota that the kernel takes; kubelet and docker raise to it.
const leastQuota = 1_000

// limitOf is a limit of a file as a runtime writes it into cpu.max; no limit where it is
// not positive.
func limitOf(cpus float64, dir string) facts.Limit {
	l := facts.Limit{Dir: dir}
	l.File = dir
	if !(cpus > 0) || cpus > math.MaxInt32 {
		l.State, l.Raw = facts.NoLimit, fmt.Sprintf("max %d\n", period)
		return l
	}
	quota := max(math.Round(cpus*period), leastQuota)
	l.State, l.CPUs, l.Raw = facts.Known, cpus, fmt.Sprintf("%.0f %d\n", quota, period)
	return l
}

// observed is the unit as the rules judge it.
func (u *unit) observed(nodeCPUs int) rule.Observed {
	o := rule.Observed{
		Place:        u.at,
		Language:     u.program.Language,
		Automaxprocs: u.program.Automaxprocs,
		MaySet:       u.program.MaySet,
		Foreign:      u.program.Foreign,
		Written:      &u.written,
		Facts: facts.Facts{
			Cgroup:         facts.Cgroup{Fact: facts.Fact{State: facts.Known}, Mode: facts.ModeV2, Version: 2, MountRoot: "/"},
			Limits:         u.limits,
			Env:            u.env.fact(),
			GODEBUG:        u.godebug.fact(),
			GoVersion:      u.program.GoVersion,
			DefaultGODEBUG: u.program.DefaultGODEBUG,
		},
	}
	switch {
	case u.cpus > 0:
		o.Facts.Affinity = facts.Fact{State: facts.Known, CPUs: float64(u.cpus), File: u.at.Path}
	case nodeCPUs > 0:
		o.Facts.Affinity = facts.Fact{State: facts.Known, CPUs: float64(nodeCPUs), File: "--cpus"}
	default:
		o.AnyMachine = true
	}
	return o
}

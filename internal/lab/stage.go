package lab

import (
	"slices"

	"github.com/procfit/procfit/internal/measure/plan"
)

// Stage is one sweep of an experiment: it goes through the same plan, trials,
// journal, statistics and report as procfit sweep.
type Stage struct {
	ID    string // of its folder; "" for the only one
	Title string // what differs from the other stages; "" for the only one
	// Fixed keeps Procs, Quotas and GoVersions as they are, which Title names,
	// whatever the user would have instead.
	Fixed bool
	// Scaled is what the document does at another size, and which: "10 s a trial
	// there, 4 s here". "" is nothing.
	Scaled string

	Args     []string // of the practice program
	Path     string   // of a server's URL, without its first slash: cpu?n=1
	Language string   // the go line that the program is built with, 1.24; "": each toolchain's own
	Build    Build    // how the program is compiled, if that of procfit will not do
	Needs    []string // commands of the system that the program cannot do without

	// Tree is the Go release in whose tree a Command runs: {go} in its words is its go
	// command, {tree} a copy that it may change. "" is the go command of the user. Bootstrap
	// is the release that builds another.
	Tree, Bootstrap string

	// Spec is what is measured. Its Target.BuiltIn is the practice program; the
	// command and the URL that start and load it are whose runs the stage. Where that
	// is empty, Target.Command is a program of the system, such as go build std.
	plan.Spec
}

// What is in the words of a Command for the go command, and for the tree, of Stage.Tree.
const (
	GoPlaceholder   = "{go}"
	TreePlaceholder = "{tree}"
)

// Options are what the user may change in an experiment.
type Options struct {
	Quick  bool        // sizes and repeats that bring all experiments below ten minutes
	Procs  *plan.Procs // instead of the experiment's own; nil leaves it
	Quotas []*float64  // in the same way, in CPUs, nil being no limit; empty leaves them
	Go     []string    // in the same way
	// Repeats is the number of blocks; 0 leaves the experiment's own.
	Repeats int

	CPUs float64 // that one replica may use here without a quota
	// Allowed are the CPUs that procfit may run on here, those of a core one after another; nil:
	// not known, and they are numbered from 0.
	Allowed []int
	// Elsewhere says that the load comes from another machine than the server's.
	Elsewhere bool

	Load       string // the command that loads the servers, in place of procfit's own load
	ServerCPUs []int  // that the programs may run on; nil: any
	LoadCPUs   []int  // that the servers' load runs on; nil: any

	MakeBash bool // of build: all of Go by make.bash too, for hours
}

// only are values of GOMAXPROCS, without unset; each counts once.
func only(procs ...int) plan.Procs {
	slices.Sort(procs)
	var p plan.Procs
	for _, n := range slices.Compact(procs) {
		p.Values = append(p.Values, &n)
	}
	return p
}

// quotas are limits in CPUs, 0 being none.
func quotas(cpus ...float64) []*float64 {
	var list []*float64
	for _, q := range cpus {
		if q == 0 {
			list = append(list, nil)
		} else {
			list = append(list, &q)
		}
	}
	return list
}

// pick is the quick size or the full one.
func pick[T any](o Options, quick, full T) T {
	if o.Quick {
		return quick
	}
	return full
}

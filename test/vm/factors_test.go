package vm

import (
	"go/version"
	"strings"

	"github.com/procfit/procfit/test/need"
)

// factor is one thing that bears on a program's GOMAXPROCS, and what it is
// tried with.
type factor struct {
	name   string
	values []string
}

// The factors of the agreement, in the order of a cell's values.
const (
	fCPUs = iota
	fCgroup
	fProgram
	fLimit
	fNesting
	fCpuset
	fView
	fEnv
	fGODEBUG
	nFactors
)

var factors = [nFactors]factor{
	fCPUs:    {"CPUs", []string{"1", "2", "8", "64"}},
	fCgroup:  {"cgroup", []string{"v2", "v1", "hybrid"}},
	fProgram: {"program", toolchains()},
	fLimit:   {"limit", []string{"none", "0.25", "0.5", "1", "1.5", "2.5", "20", "above the CPUs"}},
	fNesting: {"nesting", []string{"one group", "tighter parent", "tighter leaf"}},
	fCpuset:  {"cpuset", []string{"all", "mask of one", "mask of half", "group of half"}},
	fView:    {"view", []string{"host", "unshare", "container", "bind", "agent", "nsfs", "covered", "above"}},
	fEnv:     {"GOMAXPROCS", []string{"unset", "empty", "abc", "0", "3", "2.5", "999", "+3"}},
	fGODEBUG: {"GODEBUG", []string{"unset", "containermaxprocs=0", "containermaxprocs=1"}},
}

// toolchains are what programs are built with, each with the go line of go.mod.
func toolchains() []string {
	if v := need.NewGo(); v != "" {
		return []string{"go" + v + " go 1.20", "go" + v + " go 1.25"}
	}
	return []string{"go1.21.13 go 1.20", "go1.24.6 go 1.24", "go1.25.0 go 1.24", "go1.25.0 go 1.25", "go1.26.8 go 1.20", "go1.26.8 go 1.25", "go1.27.1 go 1.25"}
}

// cell is one combination: an index into the values of each factor.
type cell [nFactors]uint8

func (c cell) value(f int) string { return factors[f].values[c[f]] }

// String names every factor, so that a failure can be repeated by hand.
func (c cell) String() string {
	parts := make([]string, nFactors)
	for f := range factors {
		parts[f] = factors[f].name + "=" + c.value(f)
	}
	return strings.Join(parts, ", ")
}

// possible leaves out what cannot be: a leaf without a limit is not the tighter
// one, and v1 refuses a group more than its parent has (tg_cfs_schedulable_down
// in kernel/sched/core.c); there only a leaf without a limit has a tighter parent.
func (c cell) possible() bool {
	unlimited := c.value(fLimit) == "none"
	switch c.value(fNesting) {
	case "tighter leaf":
		return !unlimited
	case "tighter parent":
		return c.value(fCgroup) == "v2" || unlimited
	}
	return true
}

// masked reports whether GOMAXPROCS in the environment may decide alone, so that the
// cell shows nothing of any other pair.
func (c cell) masked() bool {
	switch c.value(fEnv) {
	case "3", "999", "+3":
		return true
	}
	return false
}

// readsLimits tells a program whose runtime reads its cgroup's limit: Go 1.25 and
// later, unless the go line or GODEBUG says otherwise.
func (c cell) readsLimits() bool {
	toolchain, language, _ := strings.Cut(c.value(fProgram), " ")
	if version.Compare(toolchain, "go1.25") < 0 {
		return false
	}
	switch c.value(fGODEBUG) {
	case "containermaxprocs=0":
		return false
	case "containermaxprocs=1":
		return true
	}
	return language == "go 1.25"
}

// differences are the defects of procfit that are known, each with its reason.
// When one is fixed, the test asks to take it out.
var differences = map[string]string{}

// difference is the known reason why procfit may say less than the program runs
// with, which then has taken all its CPUs; or nothing.
func (r result) difference() string {
	if !r.readsLimits() || r.procs != r.numCPU || r.goProcs > r.procs {
		return ""
	}
	if r.value(fView) == "bind" && !strings.HasPrefix(r.value(fProgram), "go1.25.0 ") {
		return ""
	}
	return differences[r.value(fView)]
}

package sweep

import (
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/procfit/procfit/internal/journal"
)

// pilots is the number of trials that find a group's capacity.
const pilots = 2

// Plan multiplies the settings out for a machine of so many CPUs. seed counts where
// the Spec has none.
func (s Spec) Plan(hostCPUs float64, seed uint64) journal.Plan {
	against := len(s.Target.Against) > 0
	p := journal.Plan{
		Blocks: s.Repeats, Seed: seed, Margin: s.Margin, MarginP99: s.MarginP99,
		SmallestFor: s.Load.Rate > 0, GateAgainst: against,
	}
	if s.Seed != nil {
		p.Seed = *s.Seed
	}
	if s.OpenLoop() && s.Load.Rate == 0 {
		p.Pilots = pilots
	}
	procs := s.Procs
	if against && procs.Auto {
		procs = Procs{Values: []*int{nil}} // a gate compares programs, not settings
	}
	for _, group := range s.groups() {
		effective := s.targetCPUs(hostCPUs)
		if group.QuotaCPUs != nil {
			effective = math.Min(effective, *group.QuotaCPUs)
		}
		values := procs.For(effective)
		for _, n := range values {
			p.Arms = append(p.Arms, withProcs(group, n, ""))
			if against {
				p.Arms = append(p.Arms, withProcs(group, n, journal.VariantAgainst))
			}
		}
		p.AA = append(p.AA, withProcs(group, values[0], ""))
	}
	return p
}

// groups are arms without a number of Ps, one for each quota and version.
func (s Spec) groups() (list []journal.Arm) {
	quotas, versions := s.Quotas, s.GoVersions
	if len(quotas) == 0 {
		quotas = []*float64{nil}
	}
	if len(versions) == 0 {
		versions = []string{""}
	}
	for _, version := range versions {
		for _, quota := range quotas {
			list = append(list, journal.Arm{QuotaCPUs: quota, Replicas: max(1, s.Replicas), GoVersion: version})
		}
	}
	return list
}

func withProcs(group journal.Arm, procs *int, variant string) journal.Arm {
	a := group
	a.Procs, a.Variant, a.Label = procs, variant, "unset"
	if procs != nil {
		a.Label = strconv.Itoa(*procs)
	}
	if variant != "" {
		a.Label = "old " + a.Label
	}
	return a
}

// Task is one trial to be run.
type Task struct {
	Arm   journal.Arm
	Role  journal.Role
	Block int
	Order int
	// RatePerSecond is the open loop's rate; nil for a pilot, which finds it, and
	// where there is no open loop.
	RatePerSecond *float64
}

// Schedule lists every task of a plan in the order in which to run them: each
// group's pilots, then the blocks. The same plan gives the same list.
func Schedule(p journal.Plan) []Task {
	var tasks []Task
	for _, arm := range p.AA { // one a group
		for n := range p.Pilots {
			tasks = append(tasks, Task{Arm: withProcs(arm, nil, ""), Role: journal.RolePilot, Block: n})
		}
	}
	for block := range p.Blocks {
		tasks = append(tasks, blockOf(p, block)...)
	}
	return tasks
}

func blockOf(p journal.Plan, block int) []Task {
	var tasks []Task
	for _, arm := range p.Arms {
		tasks = append(tasks, Task{Arm: arm, Role: journal.RoleMeasure, Block: block})
	}
	for _, arm := range p.AA {
		tasks = append(tasks, Task{Arm: arm, Role: journal.RoleAA, Block: block})
	}
	// A stream of its own for each block, so that a plan of more blocks begins
	// with the very blocks of a plan of fewer.
	r := rand.New(rand.NewPCG(p.Seed, uint64(block)))
	r.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	for i := range tasks {
		tasks[i].Order = i
	}
	return tasks
}

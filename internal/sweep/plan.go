package sweep

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/procfit/procfit/internal/journal"
)

// Matrix is what the user wants measured.
type Matrix struct {
	Procs      Procs
	Quotas     []*float64 // CPUs; nil: no limit. Empty: one group without a limit.
	Replicas   int
	GoVersions []string // empty: the program as it comes
	Against    bool     // every arm a second time with the old command
	// CPUs is what one replica may use when no quota binds it.
	CPUs        float64
	Blocks      int
	Pilots      int // of each group, to choose the open loop's rate; 0: none is needed
	Seed        uint64
	Margin      float64
	MarginP99   float64
	SmallestFor bool // the question is which smallest arm carries the rate
}

// AgainstVariant marks the arms of the old command.
const AgainstVariant = "against"

// NewPlan multiplies the matrix out.
func NewPlan(m Matrix) (journal.Plan, error) {
	if err := m.check(); err != nil {
		return journal.Plan{}, err
	}
	p := journal.Plan{
		Blocks: m.Blocks, Pilots: m.Pilots, Seed: m.Seed, Margin: m.Margin, MarginP99: m.MarginP99,
		SmallestFor: m.SmallestFor, GateAgainst: m.Against,
	}
	quotas, versions := m.Quotas, m.GoVersions
	if len(quotas) == 0 {
		quotas = []*float64{nil}
	}
	if len(versions) == 0 {
		versions = []string{""}
	}
	for _, version := range versions {
		for _, quota := range quotas {
			effective := m.CPUs
			if quota != nil {
				effective = math.Min(effective, *quota)
			}
			group := journal.Arm{QuotaCPUs: quota, Replicas: max(1, m.Replicas), GoVersion: version}
			values := m.Procs.For(effective)
			for _, procs := range values {
				p.Arms = append(p.Arms, withProcs(group, procs, ""))
				if m.Against {
					p.Arms = append(p.Arms, withProcs(group, procs, AgainstVariant))
				}
			}
			p.AA = append(p.AA, withProcs(group, values[0], ""))
		}
	}
	return p, nil
}

// Bounds against typing errors.
const (
	maxBlocks   = 1000
	maxReplicas = 256
)

func (m Matrix) check() error {
	switch {
	case !m.Procs.Auto && len(m.Procs.Values) == 0:
		return errors.New("no value of GOMAXPROCS to measure")
	case m.Blocks > maxBlocks:
		return fmt.Errorf("%d repeats: at most %d; more than some dozens settle nothing that a quieter machine would not", m.Blocks, maxBlocks)
	case m.Replicas > maxReplicas:
		return fmt.Errorf("%d replicas: at most %d", m.Replicas, maxReplicas)
	case m.Blocks < 1:
		return fmt.Errorf("%d repeats: at least one is needed, and six for intervals", m.Blocks)
	case m.Margin <= 0 || m.Margin >= 1:
		return fmt.Errorf("a margin of %g: want more than 0 %% and less than 100 %%", m.Margin)
	case m.MarginP99 <= 0:
		return fmt.Errorf("a p99 margin of %g: want more than 0 %%", m.MarginP99)
	}
	return nil
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

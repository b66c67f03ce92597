package plan

import (
	"context"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Runner measures settings: here, in a cluster or in a model. It is for one goroutine at a time.
type Runner interface {
	// Prepare does before the first trial what may fail for all. What is wrong with
	// the Spec on the Runner's machine is a *FieldError.
	Prepare(ctx context.Context, plan journal.Plan, observe Observer) error
	// Run measures one setting once. A trial that was carried out but proves nothing
	// comes back with Valid false and its reason. An error means that no trial came
	// about and that the next would fare no better; it ends the run. When ctx ends, Run
	// stops what it started and returns ctx.Err().
	Run(ctx context.Context, t Task, observe Observer) (journal.Trial, error)
	// Close removes what Prepare made.
	Close() error
}

// TestCompiler is a Runner that may compile test binaries.
type TestCompiler interface {
	// TestBinaries are the files that Prepare has compiled, or tried to, in a fixed order.
	TestBinaries() []string
}

// Observer is called with what a Runner does. It must return at once.
type Observer func(Activity)

// Step is a stretch of a Runner's work.
type Step string

const (
	StepOthers      Step = "others"       // before the first trial: what Others used
	StepUnseen      Step = "unseen"       // before the first trial: only Linux tells the live GOMAXPROCS and the kernel's counters
	StepArrange     Step = "arrange"      // trials that show how many CPUs the load needs
	StepUnjudged    Step = "unjudged"     // the p99 of what follows will not be judged: Shortfall
	StepCompile     Step = "compile"      // Detail: the package
	StepStart       Step = "start"        // of the target
	StepReady       Step = "ready"        // waiting for its URL
	StepNode        Step = "node"         // Detail: that is waited for, as it is not ready
	StepWarmup      Step = "warmup"       // load that is not measured
	StepClosedLoop  Step = "closed_loop"  // for throughput
	StepOpenLoop    Step = "open_loop"    // for latency, at RatePerSecond
	StepLoadCommand Step = "load_command" // Detail: the command
	StepPrepare     Step = "prepare"      // what runs before a batch program
	StepNeighbour   Step = "beside"       // of the neighbour
	StepBusy        Step = "busy"         // between blocks: Others are waited for, since the time Waited, for the time Left
	StepSlow        Step = "slow"         // after a block: the machine was slower by Share in Trials, by their numbers, and the block is repeated
	StepRun         Step = "run"          // of a batch program
	StepListens     Step = "listens"      // a batch program has not ended and may be a server; Detail: where it listens
	StepResize      Step = "resize"       // of the limit, to CPUs, under load at RatePerSecond
	StepSliced      Step = "sliced"       // after the slices: Values are measured in starts of their own; Detail: why all are
	StepProfile     Step = "profile"      // after the last trial: of the setting that Detail names, for the time Left; 0: not known
)

// Activity is what a Runner does just now.
type Activity struct {
	Step          Step
	Detail        string
	RatePerSecond float64
	CPUs          float64
	Others        Others
	Waited, Left  time.Duration
	Share         float64
	Trials        []int
	Values        []string
	Shortfall     *Shortfall
}

// Tell tells the observer, if there is one.
func (o Observer) Tell(a Activity) {
	if o != nil {
		o(a)
	}
}

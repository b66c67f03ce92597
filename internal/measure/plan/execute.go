package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Progress is how far a run is.
type Progress struct {
	Task      Task
	Trial     *journal.Trial // the trial that has just ended; nil when one starts
	Others    *float64       // the share of the CPUs that other programs took of it, if that matters
	Done      int            // trials that are in the journal
	Total     int
	AtMost    bool          // Total is a bound: there may be fewer
	Bound     time.Duration // of --for, where that ends the run before Total does; 0: it does not
	Versions  bool          // an old and a new program are compared
	Open      []Question    // of a race: what the trials have still to tell
	Remaining time.Duration // at most, where Total is; 0: not known yet
}

// Execution is a run of a plan.
type Execution struct {
	Spec    Spec // how long trials take, and what a busy machine or invalid trials mean
	Header  journal.Header
	Have    Record // of the journal: it is not run again, but for pilots that were invalid
	Runner  Runner
	Observe Observer                  // of what the Runner does; may be nil
	Begin   func(journal.Block) error // puts a block of a race into the journal, before it is run
	Append  func(journal.Trial) error // puts a trial into the journal
	Old     []journal.Trial           // pilots of the old version from an earlier run, whose capacity counts too
	Report  func(Progress)            // is called at every start and end; may be nil
	Machine Machine                   // between blocks; nil: it cannot be looked at
	Settled func(Record) bool         // the answer is proven, so that a race has nothing to wait for; nil: not known
	Now     func() time.Time

	have  Record
	leg   Leg
	done  int // trials in the journal, without those that the leg runs again
	start int // of the program, that this run's slices are measured in

	speeds  []float64     // of the machine, as they were measured
	speedAt time.Time     // of the last measurement
	busy    bool          // other programs left a block nothing to compare
	waited  time.Duration // for these to stop
}

// capacityShare is the part of the capacity at which the open loop runs, if the header has no
// other: high enough for queueing to show, low enough for the smaller settings to carry it.
const capacityShare = 0.5

// Run carries out what the journal lacks. It returns when all is done, when ctx
// ends (with its error), when the Runner or the journal fails, or when a pilot
// or a whole block was invalid, since the rest would be too.
func (r *Execution) Run(ctx context.Context) error {
	if r.Header.Plan.GateAgainst {
		r.Machine = nil // it compares in pairs, and a slow or busy machine slows down both of a pair
	}
	r.have = Record{Trials: slices.Clone(r.Have.Trials), Slices: slices.Clone(r.Have.Slices), Blocks: slices.Clone(r.Have.Blocks)}
	r.start = r.have.starts()
	for {
		r.leg = Next(r.Header, r.have)
		if len(r.leg.Tasks) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.quiet(ctx, r.leg.Tasks[0]); err != nil {
			return err
		}
		if err := r.begin(); err != nil {
			return err
		}
		r.done = r.have.Done(r.leg.Tasks)
		// A block that an earlier run began is completed even beyond a budget that has become smaller.
		r.leg.Total = max(r.leg.Total, r.done+len(r.leg.Tasks))
		for i, task := range r.leg.Tasks {
			if i > 0 && (r.have.waits(task) || r.failedSlice()) {
				break
			}
			err := r.overBudget(task)
			if err == nil && i > 0 {
				err = r.quiet(ctx, task)
			}
			if err == nil {
				err = r.measure(ctx, task, r.leg.Tasks[i+1:])
			}
			if err != nil {
				return err
			}
		}
	}
}

func (r *Execution) begin() error {
	if len(r.leg.Begin) > 0 && len(r.have.Blocks) == 0 {
		r.tellSliced(r.leg.Begin[0])
	}
	for _, b := range r.leg.Begin {
		if err := r.Begin(b); err != nil {
			return fmt.Errorf("cannot write a block to the journal (%d trials so far): %w", len(r.have.Trials), err)
		}
		r.have.Blocks = append(r.have.Blocks, b)
	}
	return nil
}

// measure runs a task, and keeps what came of it; later is what is planned after it.
func (r *Execution) measure(ctx context.Context, task Task, later []Task) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if task.RatePerSecond, err = r.rate(task); err != nil {
		return err
	}
	task.Collections = collections(task, r.have.Trials)
	task.Tried, task.SawGo = r.have.trials(task.place()), SawGo(r.have.Trials)
	r.report(r.progress(task))
	var before *float64
	if len(r.speeds) == 0 {
		before = r.speed(ctx)
	}
	began := r.Now()
	trial, err := r.Runner.Run(ctx, task, r.Observe)
	if err != nil {
		return err
	}
	if left := r.leg.Left; left != nil {
		*left = max(0, *left-r.Now().Sub(began))
	}
	trial.SpeedBefore = before
	if !task.Slice() && (len(later) == 0 || !task.together(later[0])) {
		trial.SpeedAfter = r.speed(ctx)
	}
	return r.keep(task, trial, later)
}

// keep puts a trial into the journal. An error is that the rest, where later was planned, can show nothing.
func (r *Execution) keep(task Task, trial journal.Trial, later []Task) error {
	trial.Setting, trial.Role, trial.Block, trial.Order = task.Setting, task.Role, task.Block, task.Order
	slice := task.Slice()
	if slice {
		trial.Start = new(r.start)
	} else {
		agree(&trial, r.have.Trials)
		r.done++
	}
	if err := r.Append(trial); err != nil {
		return fmt.Errorf("cannot write a trial to the journal (%d trials so far): %w", len(r.have.Trials), err)
	}
	r.have.add(task, trial)
	progress := r.progress(task)
	if progress.Trial = &trial; !slice {
		progress.Others = others(&trial)
	}
	r.report(progress)
	if slice && !trial.Valid { // which ends its start
		r.start = r.have.starts()
	}
	if slice {
		return nil
	}
	if trial.SpeedAfter != nil && task.Role != journal.RolePilot {
		r.slow()
	}
	ends := !slices.ContainsFunc(later, func(t Task) bool { return t.Block == task.Block })
	if err := hopeless(r.have, ends); err != nil && !r.Spec.Tolerant {
		return err
	}
	return nil
}

// failedSlice reports whether the last slice was invalid: the rest of its block would be too.
func (r *Execution) failedSlice() bool {
	n := len(r.have.Slices)
	return r.leg.Tasks[0].Slice() && n > 0 && !r.have.Slices[n-1].Valid
}

func (r *Execution) tellSliced(first journal.Block) {
	s := contest.Count(r.Header, r.have.Trials, r.have.Slices...).Contests()[0].Sliced
	if s == nil {
		return
	}
	a := Activity{Step: StepSliced}
	if s.Why != "" {
		a.Detail = s.Because()
	}
	byValue := func(a, b journal.Setting) int { return cmp.Compare(a.Key().Procs, b.Key().Procs) }
	for _, setting := range sorting.Sorted(first.Settings, byValue) { // the default first
		a.Values = append(a.Values, setting.Label)
	}
	r.Observe.Tell(a)
}

func (r *Execution) progress(task Task) Progress {
	return Progress{Task: task, Done: r.done, Total: r.leg.Total, AtMost: r.leg.AtMost, Versions: r.Header.Plan.GateAgainst, Open: r.leg.Open}
}

func (r *Execution) report(p Progress) {
	if r.Report == nil {
		return
	}
	each := r.each(p.Task)
	p.Remaining = each * time.Duration(p.Total-p.Done)
	if left := r.leg.Left; left != nil && p.Remaining > *left {
		p.Remaining, p.Bound = *left, time.Duration(r.Header.Plan.MaxSeconds*float64(time.Second))
	}
	r.Report(p)
}

// each is what a trial takes: the mean of those so far, without pilots, which have no open loop.
func (r *Execution) each(t Task) time.Duration {
	trials := slices.DeleteFunc(slices.Clone(r.have.Trials), func(t journal.Trial) bool { return t.Role == journal.RolePilot })
	if n := len(trials); n > 0 {
		return time.Duration(contest.Seconds(trials) / float64(n) * float64(time.Second))
	}
	t.Role = journal.RoleMeasure
	rate, err := r.rate(t)
	if err != nil || rate == nil {
		rate = new(0.0)
	}
	return r.Spec.EachAt(*rate)
}

// rate is the open loop's rate for a task: that which the user gave, or else a share of the
// least capacity that the pilots found. It is the same for every setting of a group.
func (r *Execution) rate(t Task) (*float64, error) {
	if t.Pilot() || t.Slice() {
		return nil, nil
	}
	if given := r.Header.Load.RatePerSecond; given != nil || r.Header.Plan.Pilots == 0 {
		return given, nil
	}
	found := map[journal.SettingKey][]float64{}
	for _, trial := range slices.Concat(r.have.Trials, r.Old) {
		if t.follows(trial) && trial.ThroughputPerSecond != nil && *trial.ThroughputPerSecond > 0 {
			of := capacityOf(trial.Setting)
			found[of] = append(found[of], *trial.ThroughputPerSecond)
		}
	}
	if len(found) == 0 && r.Spec.Tolerant {
		return nil, nil // a group without a valid pilot has no open loop
	}
	if len(found) == 0 {
		return nil, errors.New("no trial that finds the request rate was valid, so the latency phase has no rate: give one with --rate")
	}
	least := math.Inf(1)
	for _, capacities := range found {
		// The mean of the middle one or two is the median.
		slices.Sort(capacities)
		n := len(capacities)
		least = min(least, (capacities[(n-1)/2]+capacities[n/2])/2)
	}
	return new(cmp.Or(r.Header.Load.RateShare, capacityShare) * least), nil
}

func (t Task) follows(trial journal.Trial) bool {
	return trial.Role == journal.RolePilot && trial.Valid && trial.Setting.Group().Base() == t.Setting.Group().Base()
}

// collections is how many garbage collections per second the pilots of a task's group had
// in each process; 0: they are too short to show in a loop's figures, or not known.
func collections(t Task, trials []journal.Trial) float64 {
	var sum journal.GC
	var measured, pilots float64
	for _, trial := range trials {
		if trial.GC != nil && trial.GC.SpanSeconds > 0 && t.follows(trial) {
			sum.Add(*trial.GC)
			measured, pilots = measured+trial.MeasuredSeconds, pilots+1
		}
	}
	if t.Role == journal.RolePilot || sum.Cycles == 0 || sum.CPUSeconds == nil || sum.BusySeconds == nil || !(*sum.BusySeconds > 0) {
		return 0
	}
	perSecond := float64(sum.Cycles) / sum.SpanSeconds
	if each := *sum.CPUSeconds / *sum.BusySeconds / (perSecond * measured / pilots); !(each > journal.LongCollection) {
		return 0
	}
	return perSecond
}

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

// Compiler is a Runner that may compile what it measures.
type Compiler interface {
	// Compiled are the files that Prepare has compiled, or tried to, in a fixed order.
	Compiled() []string
}

// Arranger is a Runner that can set load and target apart on its machine.
type Arranger interface {
	// Arrange measures what the load costs and gives it CPUs of its own, for all
	// trials that follow. nil: it could not be measured, or that there are no CPUs
	// to give: then load and target share them as before. It follows Prepare.
	Arrange(ctx context.Context, plan journal.Plan, observe Observer) (*Split, error)
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

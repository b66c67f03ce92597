// Package trial carries out one trial, wherever its target runs, and judges it.
//
// [Run] is the life of a trial: prepare, start, warm up, look, load or run, look, judge,
// stop. A [Place], this machine or a cluster, has the verbs that differ. A server's trial
// is a closed loop for throughput, then an open loop at the rate that all settings get,
// or the search for the highest rate within an objective; a batch program's is its runs.
//
// What the place saw is judged as a code with its reason and as coded warnings. A trial
// is invalid when the target ran at another GOMAXPROCS than asked, when too many requests
// failed or were never answered, when a replica stopped answering, or when a figure is
// missing that comparisons need. What could not be proven, such as the GOMAXPROCS of a
// program that cannot be read, is neither a match nor a fault: the trial stays valid and
// carries a warning.
package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/host/halt"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Place is where one trial's target runs: this machine, or a cluster. It has the verbs
// that differ between them; Run calls them in the order in which they are listed here,
// and Stop in any case. A *Failure of a verb makes the trial invalid; with any other
// error there is no trial, and the next one would fare no better.
type Place interface {
	// Prepare makes the place ready for a target. While the trial continues, the place may
	// end it with a *Failure.
	Prepare(ctx context.Context, end context.CancelCauseFunc) error
	// Start starts a server's replicas and returns their URLs once they can be loaded. For
	// a batch program, it starts only what runs next to it.
	Start(ctx context.Context) (urls []string, err error)
	// Look reads the live GOMAXPROCS of each of a server's replicas.
	Look(ctx context.Context) ([]Reading, error)
	// Offer offers load to a server and, where that is wanted, counts meanwhile. Counters
	// that could not be read are nil.
	Offer(ctx context.Context, o load.Options, count bool) (*load.Result, *journal.Usage, error)
	// RunOnce runs a batch program, all replicas at once. A run that is not measured warms
	// up.
	RunOnce(ctx context.Context, measured bool) (Ran, error)
	// Check returns what became of the target by now, if it is not what was to be measured
	// any more. That explains more than the load's view of it.
	Check(ctx context.Context) error
	// Stop ends all that Prepare and Start started.
	Stop(ctx context.Context) (Ending, error)
}

// commander is a Place where the user's own load command can run.
type commander interface {
	WarmUpByCommand(ctx context.Context) error
	Command(ctx context.Context) error
}

// Ending is how a server's replicas ended.
type Ending struct {
	Outputs []load.Output // of each replica; nil: not known
	Unread  error         // why they are not known
	Killed  bool          // one of them did not end by itself in time
}

// Task is one trial that is to be carried out, and what is known of it so far.
type Task struct {
	plan.Task
	Spec     plan.Spec
	Observe  plan.Observer
	Trial    *journal.Trial
	Foretold map[journal.GroupKey]bool // whose p99 will not be judged, as a trial of the run reported

	urls []string
}

// NewTask makes a Task that starts now.
func NewTask(origin journal.Origin, spec plan.Spec, of plan.Task, observe plan.Observer, foretold map[journal.GroupKey]bool) *Task {
	return &Task{Task: of, Spec: spec, Observe: observe, Foretold: foretold, Trial: &journal.Trial{Setting: of.Setting, Origin: origin, Started: time.Now()}}
}

// Step reports what the trial does now.
func (t *Task) Step(s plan.Step) { t.Observe.Tell(plan.Activity{Step: s}) }

// Uncounted warns that counters could not be read, once for each reason.
func (t *Task) Uncounted(err error) {
	w := journal.Warning{Code: journal.WarnCounters, Detail: err.Error()}
	if !slices.ContainsFunc(t.Trial.Warnings, func(have journal.Warning) bool { return have.Code == w.Code && have.Detail == w.Detail }) {
		warn(t.Trial, w)
	}
}

// Run carries out one trial. When ctx ends it stops what it started and returns the
// error of ctx, with an *UnstoppedError if something is left.
func Run(ctx context.Context, p Place, t *Task) (journal.Trial, error) {
	watch := halt.Start()
	err := Lost(t.guarded(ctx, p))
	err = Halted(err, watch.End())
	t.Trial.DurationSeconds = time.Since(t.Trial.Started).Seconds()
	if ctx.Err() != nil {
		if left, ok := errors.AsType[*UnstoppedError](err); ok {
			return journal.Trial{}, fmt.Errorf("%w; %w", ctx.Err(), left)
		}
		return journal.Trial{}, ctx.Err()
	}
	why, invalid := errors.AsType[*Failure](err)
	if err != nil && !invalid {
		return journal.Trial{}, err
	}
	if t.Trial.Valid = !invalid; invalid {
		t.Trial.InvalidCode, t.Trial.InvalidReason = why.Code, why.Reason
	}
	t.Trial.NotStarted = t.Trial.NotStarted || t.Trial.InvalidCode == journal.InvalidNodeLost
	return *t.Trial, nil
}

// Halted makes a trial, or a part of one, invalid during which procfit itself did not run: whatever it saw
// then, such as requests without an answer, is its own doing.
func Halted(err error, stopped time.Duration) error {
	if stopped == 0 || err != nil && !failed(err) {
		return err
	}
	return Invalid(journal.InvalidStopped, "procfit itself was stopped for %s, by a signal (SIGSTOP, Ctrl-Z) or because the machine was suspended, and neither sent nor counted anything meanwhile; let it run through", number.Short(number.Duration(stopped)))
}

// guarded lets the place end the trial, with a reason that explains whatever fails then.
func (t *Task) guarded(ctx context.Context, p Place) error {
	guarded, end := context.WithCancelCause(ctx)
	defer end(nil)
	err := t.live(guarded, p, end)
	why := context.Cause(guarded)
	if err == nil || ctx.Err() != nil || !failed(why) {
		return err
	}
	if left, ok := errors.AsType[*UnstoppedError](err); ok { // without what the place ended the trial with
		return left
	}
	return why
}

// live is the trial from before its target's start to its end.
func (t *Task) live(ctx context.Context, p Place, end context.CancelCauseFunc) error {
	server := t.Spec.Target.IsServer()
	err := p.Prepare(ctx, end)
	if err == nil {
		t.urls, err = p.Start(ctx)
	}
	if err == nil {
		if server {
			err = t.serve(ctx, p)
		} else {
			err = t.batch(ctx, p)
		}
		if became := p.Check(ctx); became != nil && ctx.Err() == nil {
			err = became
		}
	}
	ending, stopped := p.Stop(ctx)
	// The output of a pod is known only now; on this machine the reason has it already.
	if why, ok := errors.AsType[*Failure](err); ok && why.Code.NoTarget() && t.Trial.Origin == journal.OriginKube && len(ending.Outputs) > 0 {
		err = Quoted(why, Quote(ending.Outputs[0]))
	}
	if err = Stopped(err, stopped); err != nil || !server {
		return err
	}
	return t.ended(ending)
}

func (t *Task) serve(ctx context.Context, p Place) error {
	if err := t.warmUp(ctx, p); err != nil {
		return err
	}
	before, err := p.Look(ctx)
	if err == nil {
		err = t.refuse(before)
	}
	if err != nil {
		return err
	}
	if c, ok := p.(commander); ok && t.Spec.Load.Command != "" {
		err = c.Command(ctx)
	} else {
		err = t.loops(ctx, p)
	}
	if err != nil && !failed(err) {
		return err
	}
	after, looked := p.Look(ctx)
	if looked != nil {
		return looked
	}
	procs := JudgeProcs(t.Trial, before, after)
	if err = cmp.Or(err, procs); err != nil { // a target that hangs is reported as that, at any GOMAXPROCS
		return err
	}
	return t.judge()
}

// warmUp offers load that is not measured, from the generator that measures: as much as
// the server carries, but never more than the rate of a server that is already in use.
func (t *Task) warmUp(ctx context.Context, p Place) error {
	if t.Spec.Load.Warmup <= 0 {
		return nil
	}
	if c, ok := p.(commander); ok && t.Spec.Load.Command != "" {
		return c.WarmUpByCommand(ctx)
	}
	t.Step(plan.StepWarmup)
	rate := 0.0
	if t.Spec.Target.Attach != nil {
		rate = t.Spec.Load.Rate
	}
	_, _, err := p.Offer(ctx, t.Spec.LoadOptions(t.urls, rate, t.Spec.Load.Warmup), false)
	return err
}

// judge decides whether a server's trial is valid, by what was counted.
func (t *Task) judge() error {
	if err := judgeStolen(t.Trial); err != nil {
		return err
	}
	if err := JudgeAnswers(t.Trial, t.Spec.Load.MaxErrors, t.Spec.Load.Places()); err != nil {
		return err
	}
	arranged := t.Spec.Arrangement()
	warnOfLimits(t.Trial, arranged != nil && *arranged == journal.ArrangementShared)
	return nil
}

func (t *Task) ended(e Ending) error {
	t.logged(e.Outputs)
	if e.Killed {
		warn(t.Trial, journal.Warning{Code: journal.WarnKilled, Value: new(t.Spec.Target.Grace.Seconds())})
	}
	switch {
	case t.Spec.Load.Command != "": // which printed the figures
		return nil
	case e.Unread != nil && len(t.Spec.Load.Metrics) > 0:
		return Invalid(journal.InvalidLost, "%v", e.Unread)
	case e.Outputs == nil:
		return nil
	}
	found, err := t.metrics(e.Outputs)
	Metrics(t.Trial, found)
	return err
}

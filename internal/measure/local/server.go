package local

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/engine"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/measure/trial/course"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// serve is a server's trial: start, ready, warm-up, closed loop, open loop, stop.
func (r *run) serve(ctx context.Context) error {
	logs, err := r.logs(r.task.Arm.Replicas, "")
	if err != nil {
		return err
	}
	defer closeLogs(logs)
	r.trial.Log = logs[0].path
	r.step(plan.StepStart)
	f, err := r.start(ctx, logs)
	if err != nil {
		return err
	}
	grace := r.spec.Target.Grace
	defer f.end(grace)
	if err := r.ready(ctx, f); err != nil {
		return err
	}
	if err := r.startBeside(ctx, f[0].free); err != nil {
		return err
	}
	defer r.beside.end(grace)
	err = r.offer(ctx, f)
	// What the target itself said is worth more than the load's view of it.
	if dead := f.crashed(); dead != nil && ctx.Err() == nil {
		return crash(f, dead, logs)
	}
	if gone := r.beside.stands(); gone != nil && ctx.Err() == nil {
		return gone
	}
	if err != nil {
		return err
	}
	if err := f.end(grace); err != nil {
		return err
	}
	return r.ended(f, logs)
}

// crash is how a replica ended that should not have.
func crash(f fleet, dead *replica, logs []*log) error {
	exit, err := dead.Wait()
	if err != nil {
		return trial.Invalid(journal.InvalidLost, "the target was lost during the trial: %v", err)
	}
	if err := logs[slices.Index(f, dead)].kept(exit); err != nil {
		return err
	}
	return trial.Invalid(journal.InvalidCrashed, "the target %v during the trial; %s", exit, dead.LastWords(quotedLines))
}

// ended looks at how the replicas ended and at what they printed.
func (r *run) ended(f fleet, logs []*log) error {
	killed := false
	outputs := make([]load.Output, len(f))
	for i, one := range f {
		exit, _ := one.Wait()
		if err := logs[i].kept(exit); err != nil {
			return err
		}
		killed = killed || exit.Killed
		var err error
		if outputs[i], err = logs[i].output(exit); err != nil {
			return err
		}
	}
	r.trial.ProcsLogged = logsProcs(outputs[0])
	if killed {
		r.trial.Warnings = append(r.trial.Warnings, journal.Warning{Code: journal.WarnKilled, Value: new(r.spec.Target.Grace.Seconds())})
	}
	if len(r.spec.Load.Metrics) == 0 || r.spec.Load.Command != "" {
		return nil
	}
	found, err := load.JoinMetrics(outputs, r.spec.Load.Metrics)
	if err != nil {
		return trial.Invalid(journal.InvalidMetric, "%v", err)
	}
	trial.Metrics(r.trial, found)
	return nil
}

// ready waits for all replicas at once.
func (r *run) ready(ctx context.Context, f fleet) error {
	r.step(plan.StepReady)
	results := make([]error, len(f))
	var all sync.WaitGroup
	for i, one := range f {
		all.Go(func() { results[i] = one.Ready(ctx, one.ask, r.spec.Target.ReadyTimeout) })
	}
	all.Wait()
	if err := errors.Join(results...); err != nil && ctx.Err() == nil {
		return trial.Invalid(journal.InvalidNeverReady, "never ready: %v", err)
	}
	return ctx.Err()
}

// offer loads the fleet and gathers the evidence.
func (r *run) offer(ctx context.Context, f fleet) error {
	if err := r.warmUp(ctx, f); err != nil {
		return err
	}
	before, err := r.readServers(f)
	if err != nil {
		return err
	}
	r.follow(f) // what is searched for is then found, before anything is measured
	outer := f.limitsAround()
	c := r.course(f, outer)
	if r.spec.Load.Command != "" {
		err = r.external(ctx, f, outer)
	} else {
		err = c.Run(ctx)
	}
	return c.Judge(err, before, func() ([]trial.Reading, error) { return r.readServers(f) })
}

// warmUp offers load that is not measured, from the generator that measures.
func (r *run) warmUp(ctx context.Context, f fleet) error {
	warmup := r.spec.Load.Warmup
	if warmup <= 0 {
		return nil
	}
	if r.spec.Load.Command != "" {
		return r.warmUpExternally(ctx, f)
	}
	r.step(plan.StepWarmup)
	_, err := offerLoad(ctx, r.course(f, nil).WarmUp())
	return err
}

// course is the trial's way through its loops. outer are the limits around the target,
// from limitsAround.
func (r *run) course(f fleet, outer []observe.Limit) course.Course {
	return course.Course{Spec: r.spec, Task: r.task, Trial: r.trial, URLs: f.urls(), Observe: r.observe, Told: r.told,
		Loop: func(ctx context.Context, o load.Options) (*load.Result, *journal.Usage, error) {
			return r.loop(ctx, f, outer, o)
		}}
}

// loop runs one loop and counts meanwhile.
func (r *run) loop(ctx context.Context, f fleet, outer []observe.Limit, o load.Options) (*load.Result, *journal.Usage, error) {
	var c *counters
	var usage *journal.Usage
	o.Began = func() { c = r.count(f, outer) }
	o.Ended = func() { usage = c.end(0) }
	result, err := offerLoad(ctx, o)
	return result, usage, err
}

// offerLoad runs our own engine. The options were checked before the sweep, so
// that a failure is the trial's: a target that listens no more, say.
func offerLoad(ctx context.Context, o load.Options) (*load.Result, error) {
	result, err := engine.Run(ctx, o)
	if err != nil && ctx.Err() == nil {
		return nil, trial.Invalid(journal.InvalidLoad, "no load could be offered: %v", err)
	}
	return result, err
}

// patience is how much longer than the asked duration a load command may take.
const patience = time.Minute

package course

import (
	"context"
	"errors"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
)

// Course is that of one trial.
type Course struct {
	Spec    plan.Spec
	Task    plan.Task
	Trial   *journal.Trial
	URLs    []string // of the target's copies
	Observe plan.Observer
	// Loop offers load and counts meanwhile.
	Loop func(context.Context, load.Options) (*load.Result, *journal.Usage, error)
	// Told holds, over all trials of a run, the groups that were said to get no judged
	// p99.
	Told map[journal.GroupKey]bool
}

// WarmUp is the load before what is measured: the most that the server carries, and
// never more than its rate of one that is in use.
func (c Course) WarmUp() load.Options {
	rate := 0.0
	if c.Spec.Target.Attach != nil {
		rate = c.Spec.Load.Rate
	}
	return c.Spec.LoadOptions(c.URLs, rate, c.Spec.Load.Warmup)
}

// Run runs the loops. A *trial.Failure is a trial that proves nothing.
func (c Course) Run(ctx context.Context) error {
	if c.Spec.Target.Attach != nil {
		return c.open(ctx, trial.Paced)
	}
	c.Observe.Tell(plan.Activity{Step: plan.StepClosedLoop})
	options := c.Spec.LoadOptions(c.URLs, 0, c.Spec.Load.Duration/2)
	options.Settle = c.Spec.Load.Settle()
	closed, usage, err := c.Loop(ctx, options)
	if err != nil {
		return err
	}
	if err := trial.Closed(c.Trial, closed, usage); err != nil {
		return err
	}
	switch {
	case c.Spec.Load.SLO != nil:
		return c.search(ctx, closed.AchievedPerSecond)
	case c.Task.RatePerSecond == nil:
		return nil
	}
	return c.open(ctx, trial.Open)
}

// Judge decides whether the trial is valid. loops is the error that the loops ended
// with, before is what read returned before them.
func (c Course) Judge(loops error, before []trial.Reading, read func() ([]trial.Reading, error)) error {
	var failed *trial.Failure
	if loops != nil && !errors.As(loops, &failed) {
		return loops
	}
	after, err := read()
	if err != nil {
		return err
	}
	procs := trial.Procs(c.Trial, before, after)
	if loops != nil { // a target that hangs is reported as that, at any GOMAXPROCS
		return loops
	}
	if procs != nil {
		return procs
	}
	if err := trial.Stolen(c.Trial); err != nil {
		return err
	}
	if err := trial.Answers(c.Trial, c.Spec.Load.MaxErrors, c.Spec.Load.Places()); err != nil {
		return err
	}
	arranged := c.Spec.Arrangement()
	trial.Limits(c.Trial, arranged != nil && *arranged == journal.ArrangementShared)
	return nil
}

// open runs the open loop at the task's rate.
func (c Course) open(ctx context.Context, add func(*journal.Trial, *load.Result, *journal.Usage, time.Duration) error) error {
	rate, quota := *c.Task.RatePerSecond, c.quota()
	c.foretell(rate, quota)
	result, usage, err := c.at(ctx, rate, c.Spec.OpenFor(rate, quota))
	if err != nil {
		return err
	}
	return add(c.Trial, result, usage, c.Spec.Load.OpenHead())
}

// search looks for the highest rate that meets the objective, each in an open loop of
// its own, below what the closed loop reached.
func (c Course) search(ctx context.Context, ceiling float64) error {
	search := c.Spec.Search(ceiling)
	var done []slo.Probe
	for rate, more := search.Next(done); more; rate, more = search.Next(done) {
		result, usage, err := c.at(ctx, rate, c.Spec.ProbeFor(rate, c.quota()))
		if err != nil {
			return err
		}
		tried := trial.Tried{Result: result, Usage: usage, Head: c.Spec.Load.OpenHead(), MaxErrors: c.Spec.Load.MaxErrors}
		probe, err := trial.Probe(c.Trial, search.Objective, tried)
		if err != nil {
			return err
		}
		done = append(done, probe)
	}
	trial.Attained(c.Trial, search, done)
	return nil
}

// at runs an open loop.
func (c Course) at(ctx context.Context, rate float64, span time.Duration) (*load.Result, *journal.Usage, error) {
	c.Observe.Tell(plan.Activity{Step: plan.StepOpenLoop, RatePerSecond: rate})
	options := c.Spec.LoadOptions(c.URLs, rate, span)
	options.Settle = c.Spec.Load.OpenHead()
	return c.Loop(ctx, options)
}

// foretell says once a group that its p99 will not be judged, where only the pilots
// could tell.
func (c Course) foretell(rate float64, quota bool) {
	group := c.Task.Arm.Group()
	if c.Told[group] || c.Spec.Shortfall(c.Spec.Load.Rate, quota) != nil {
		return
	}
	if short := c.Spec.Shortfall(rate, quota); short != nil {
		c.Told[group] = true
		c.Observe.Tell(plan.Activity{Step: plan.StepUnjudged, Shortfall: short})
	}
}

func (c Course) quota() bool { return c.Task.Arm.QuotaCPUs != nil }

package kube

import (
	"context"
	"errors"
	"time"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/kube/agent"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/slo"
	"github.com/procfit/procfit/internal/sweep"
	"github.com/procfit/procfit/internal/trial"
)

// offer loads the targets and gathers the evidence.
func (r *run) offer(ctx context.Context) error {
	if warmup := r.spec.Load.Warmup; warmup > 0 {
		r.step(sweep.StepWarmup)
		if _, err := r.from.Load(ctx, r.spec.LoadOptions(r.urls(), 0, warmup), agent.Moments{}); err != nil {
			return err
		}
	}
	before, looks, err := r.look(ctx)
	if err != nil {
		return err
	}
	if err := r.unset(looks); err != nil {
		return err
	}
	err = r.loops(ctx)
	var failed *trial.Failure
	if err != nil && !errors.As(err, &failed) {
		return err
	}
	after, _, lookErr := r.look(ctx)
	if lookErr != nil {
		return lookErr
	}
	if procs := trial.Procs(r.trial, before, after); err == nil {
		err = procs
	}
	if err != nil {
		return err
	}
	if err := trial.Stolen(r.trial); err != nil {
		return err
	}
	if err := trial.Answers(r.trial, r.spec.Load.MaxErrors, r.spec.Load.Connections); err != nil {
		return err
	}
	trial.Limits(r.trial, r.spec.LoadOnTargetHost())
	return nil
}

// unset holds the unset arm to its name: an image, or the runtime of a node, may set
// what no manifest shows.
func (r *run) unset(looks []agent.Look) error {
	for i, l := range looks {
		if r.task.Arm.Procs == nil && l.Env != nil {
			return trial.Invalid(journal.InvalidProcs, "GOMAXPROCS=%s is in the environment of pod %s, which does not set it: its image does, or the container runtime of the node; leave unset out of --procs", *l.Env, r.fleet[i].name)
		}
	}
	return nil
}

// loops runs the closed loop, and the open ones where there are any.
func (r *run) loops(ctx context.Context) error {
	r.step(sweep.StepClosedLoop)
	options := r.spec.LoadOptions(r.urls(), 0, r.spec.Load.Duration/2)
	options.Settle = r.spec.Load.Settle()
	closed, usage, err := r.loop(ctx, options)
	if err != nil {
		return err
	}
	if err := trial.Closed(r.trial, closed, usage); err != nil {
		return err
	}
	switch {
	case r.spec.Load.SLO != nil:
		return r.search(ctx, closed.AchievedPerSecond)
	case r.task.RatePerSecond == nil:
		return nil
	}
	rate, quota := *r.task.RatePerSecond, r.task.Arm.QuotaCPUs != nil
	if group := r.task.Arm.Group(); !r.short[group] && r.spec.Shortfall(r.spec.Load.Rate, quota) == nil {
		if short := r.spec.Shortfall(rate, quota); short != nil {
			r.short[group] = true
			r.observe.Tell(sweep.Activity{Step: sweep.StepUnjudged, Shortfall: short})
		}
	}
	open, usage, err := r.openLoop(ctx, rate, r.spec.OpenFor(rate, quota))
	if err != nil {
		return err
	}
	return trial.Open(r.trial, open, usage, r.spec.Load.OpenHead())
}

func (r *run) openLoop(ctx context.Context, rate float64, span time.Duration) (*load.Result, *journal.Usage, error) {
	r.observe.Tell(sweep.Activity{Step: sweep.StepOpenLoop, RatePerSecond: rate})
	options := r.spec.LoadOptions(r.urls(), rate, span)
	options.Settle = r.spec.Load.OpenHead()
	return r.loop(ctx, options)
}

// search looks for the highest rate within the objective.
func (r *run) search(ctx context.Context, ceiling float64) error {
	search := r.spec.Search(ceiling)
	var tried []slo.Probe
	for {
		rate, more := search.Next(tried)
		if !more {
			trial.Attained(r.trial, search, tried)
			return nil
		}
		result, usage, err := r.openLoop(ctx, rate, r.spec.ProbeFor(rate, r.task.Arm.QuotaCPUs != nil))
		if err != nil {
			return err
		}
		probe, err := trial.Probe(r.trial, search.Objective, trial.Tried{Result: result, Usage: usage, Head: r.spec.Load.OpenHead(), MaxErrors: r.spec.Load.MaxErrors})
		if err != nil {
			return err
		}
		tried = append(tried, probe)
	}
}

// loop runs one loop and counts meanwhile.
func (r *run) loop(ctx context.Context, o load.Options) (*load.Result, *journal.Usage, error) {
	c := &counting{run: r}
	c.start(ctx)
	result, err := r.from.Load(ctx, o, agent.Moments{Ended: func(late time.Duration) { c.end(ctx, late) }})
	if err != nil {
		return nil, nil, err
	}
	return result, c.usage(result, o.Settle+result.Duration), nil
}

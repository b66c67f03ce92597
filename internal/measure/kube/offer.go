package kube

import (
	"context"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/measure/trial/course"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// offer loads the targets and gathers the evidence.
func (r *run) offer(ctx context.Context) error {
	if r.spec.Load.Warmup > 0 {
		r.step(plan.StepWarmup)
		if _, err := r.from.Load(ctx, r.course().WarmUp(), agent.Moments{}); err != nil {
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
	err = r.course().Run(ctx)
	return r.course().Judge(err, before, func() ([]trial.Reading, error) {
		after, _, err := r.look(ctx)
		return after, err
	})
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

// course is the trial's way through its loops.
func (r *run) course() course.Course {
	return course.Course{Spec: r.spec, Task: r.task, Trial: r.trial, URLs: r.urls(), Observe: r.observe, Told: r.told, Loop: r.loop}
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

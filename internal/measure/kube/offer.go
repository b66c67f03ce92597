package kube

import (
	"context"
	"errors"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Look implements trial.Place.
func (r *run) Look(ctx context.Context) ([]trial.Reading, error) {
	readings, looks, err := r.look(ctx)
	if err != nil {
		return nil, err
	}
	return readings, r.unset(looks)
}

// unset holds the unset setting to its name: an image, or the runtime of a node, may set
// what no manifest shows.
func (r *run) unset(looks []agent.Look) error {
	for i, l := range looks {
		if r.Setting.Procs == nil && l.Env != nil {
			return trial.Invalid(journal.InvalidProcs, "GOMAXPROCS=%s is in the environment of pod %s, which does not set it: its image does, or the container runtime of the node; leave unset out of --procs", *l.Env, r.fleet[i].name)
		}
	}
	return nil
}

// Offer implements trial.Place.
func (r *run) Offer(ctx context.Context, o load.Options, count bool) (*load.Result, *journal.Usage, error) {
	c, m := &counting{run: r}, agent.Moments{}
	if count {
		c.start(ctx)
		m.Ended = func(late time.Duration) { c.end(ctx, late) }
	}
	result, err := r.from.Load(ctx, o, m)
	if err != nil {
		return nil, nil, unloaded(err)
	}
	if !count {
		return result, nil, nil
	}
	return result, c.usage(result, o.Settle+result.Duration), nil
}

// unloaded makes what a load's agent could not do the trial's failure.
func unloaded(err error) error {
	if refused := (*agent.RefusedError)(nil); errors.As(err, &refused) {
		return trial.Invalid(journal.InvalidLoad, "no load could be offered: %v", refused)
	}
	return err
}

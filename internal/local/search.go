package local

import (
	"context"

	"github.com/procfit/procfit/internal/observe"
	"github.com/procfit/procfit/internal/slo"
	"github.com/procfit/procfit/internal/sweep"
	"github.com/procfit/procfit/internal/trial"
)

// search looks for the highest rate that meets the objective, each in an open loop of
// its own, below what the closed loop reached.
func (r *run) search(ctx context.Context, f fleet, outer []observe.Limit, ceiling float64) error {
	search, quota := r.spec.Search(ceiling), r.task.Arm.QuotaCPUs != nil
	var done []slo.Probe
	for rate, more := search.Next(done); more; rate, more = search.Next(done) {
		r.observe.Tell(sweep.Activity{Step: sweep.StepOpenLoop, RatePerSecond: rate})
		options := r.spec.LoadOptions(f.urls(), rate, r.spec.ProbeFor(rate, quota))
		options.Settle = r.spec.Load.OpenHead()
		result, usage, err := r.loop(ctx, f, outer, options)
		if err != nil {
			return err
		}
		tried := trial.Tried{Result: result, Usage: usage, Head: options.Settle, MaxErrors: r.spec.Load.MaxErrors}
		probe, err := trial.Probe(r.trial, search.Objective, tried)
		if err != nil {
			return err
		}
		done = append(done, probe)
	}
	trial.Attained(r.trial, search, done)
	return nil
}

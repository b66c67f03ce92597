package trial

import (
	"context"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
)

// loops runs a server's loops, the same wherever it runs: a closed loop for throughput,
// then an open one at the rate that all settings get, or as many as the search for the
// highest rate within an objective takes. A server that is already running gets the open
// loop alone.
func (t *Task) loops(ctx context.Context, p Place) error {
	if t.Spec.Target.Attach != nil {
		return t.open(ctx, p, addPaced)
	}
	t.Observe.Tell(plan.Activity{Step: plan.StepClosedLoop})
	options := t.Spec.LoadOptions(t.urls, 0, t.Spec.ClosedFor(t.Collections))
	options.Settle = t.Spec.Load.Settle()
	closed, usage, err := p.Offer(ctx, options, true)
	if err != nil {
		return err
	}
	if err := addClosed(t.Trial, closed, usage); err != nil {
		return err
	}
	switch {
	case t.Spec.Load.SLO != nil:
		return t.search(ctx, p, closed.AchievedPerSecond)
	case t.RatePerSecond == nil:
		return nil
	}
	return t.open(ctx, p, addOpen)
}

// open runs the open loop at the task's rate.
func (t *Task) open(ctx context.Context, p Place, add func(*journal.Trial, *load.Result, *journal.Usage, time.Duration) error) error {
	rate, quota := *t.RatePerSecond, t.quota()
	t.foretell(rate, quota)
	result, usage, err := t.at(ctx, p, rate, t.Spec.OpenFor(rate, quota, t.Collections))
	if err != nil {
		return err
	}
	return add(t.Trial, result, usage, t.Spec.Load.OpenHead())
}

// search looks for the highest rate that meets the objective, each in an open loop of
// its own, below what the closed loop reached.
func (t *Task) search(ctx context.Context, p Place, ceiling float64) error {
	search := t.Spec.Search(ceiling)
	var done []slo.Probe
	for rate, more := search.Next(done); more; rate, more = search.Next(done) {
		result, usage, err := t.at(ctx, p, rate, t.Spec.ProbeFor(rate, t.quota()))
		if err != nil {
			return err
		}
		probe, err := t.addProbe(search.Objective, result, usage)
		if err != nil {
			return err
		}
		done = append(done, probe)
	}
	attain(t.Trial, search, done)
	return nil
}

// at runs an open loop.
func (t *Task) at(ctx context.Context, p Place, rate float64, span time.Duration) (*load.Result, *journal.Usage, error) {
	t.Observe.Tell(plan.Activity{Step: plan.StepOpenLoop, RatePerSecond: rate})
	options := t.Spec.LoadOptions(t.urls, rate, span)
	options.Settle = t.Spec.Load.OpenHead()
	return p.Offer(ctx, options, true)
}

// foretell says once a group that its p99 will not be judged, where only the pilots
// could tell.
func (t *Task) foretell(rate float64, quota bool) {
	group := t.Setting.Group()
	if t.Foretold[group] || t.Spec.Shortfall(t.Spec.Load.Rate, quota) != nil {
		return
	}
	if short := t.Spec.Shortfall(rate, quota); short != nil {
		t.Foretold[group] = true
		t.Observe.Tell(plan.Activity{Step: plan.StepUnjudged, Shortfall: short})
	}
}

func (t *Task) quota() bool { return t.Setting.QuotaCPUs != nil }

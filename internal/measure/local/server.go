package local

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/engine"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/target"
	"github.com/procfit/procfit/internal/verdict/journal"
)

func (r *run) Start(ctx context.Context) (urls []string, err error) {
	if r.spec.Target.Attach != nil {
		return r.visit()
	}
	if r.logs, err = r.makeLogs(r.Setting.Replicas, ""); err != nil {
		return nil, err
	}
	r.Trial.Log = r.logs[0].path
	if !r.spec.Target.IsServer() {
		return nil, r.startNeighbour(ctx, 0)
	}
	r.Step(plan.StepStart)
	if err := r.checkProfilePort(); err != nil {
		return nil, err
	}
	if r.fleet, err = r.start(ctx, r.logs); err != nil {
		r.fleet = nil // it is ended already
		return nil, err
	}
	if err := r.ready(ctx, r.fleet); err != nil {
		return nil, err
	}
	if err := r.findProfiles(); err != nil {
		return nil, err
	}
	return r.fleet.urls(), r.startNeighbour(ctx, r.fleet[0].free)
}

func (r *run) Check(context.Context) error {
	dead := r.fleet.crashed()
	switch a := r.spec.Target.Attach; {
	case dead != nil && a != nil:
		return trial.Invalid(journal.InvalidCrashed, "process %d (%s) ended during the trial", a.PID, a.Name)
	case dead != nil:
		return crash(r.fleet, dead, r.logs)
	}
	return r.neighbour.checkRunning()
}

func (r *run) Stop(context.Context) (e trial.Ending, err error) {
	defer closeLogs(r.logs)
	if r.back != nil {
		defer r.back()
	}
	err = errors.Join(r.fleet.end(r.spec.Target.Grace), r.neighbour.end(r.spec.Target.Grace))
	if err != nil || r.spec.Target.Attach != nil {
		return e, err
	}
	return r.ending()
}

func crash(f fleet, dead *replica, logs []*log) error {
	exit, err := dead.Wait()
	if err != nil {
		return trial.Invalid(journal.InvalidLost, "procfit lost the target during the trial: %v", err)
	}
	if err := logs[slices.Index(f, dead)].kept(exit); err != nil {
		return err
	}
	return trial.Invalid(trial.EndCode(exit, journal.InvalidCrashed), "the target %v during the trial; %s", exit, dead.LastWords(supervisor.QuotedLines))
}

func (r *run) ending() (e trial.Ending, err error) {
	for i, one := range r.fleet {
		exit, _ := one.Wait()
		if err := r.logs[i].kept(exit); err != nil {
			return e, err
		}
		e.Killed = e.Killed || exit.Killed
		output, err := r.logs[i].output(exit)
		if err != nil {
			return e, err
		}
		e.Outputs = append(e.Outputs, output)
	}
	return e, nil
}

func (r *run) ready(ctx context.Context, f fleet) error {
	r.Step(plan.StepReady)
	err := wait.All(len(f), func(i int) error { return target.Ready(ctx, f[i].Process, f[i].ask, r.spec.Target.ReadyTimeout) })
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	if not, ok := errors.AsType[*target.NotReadyError](err); ok && not.Reason == target.Ended {
		return trial.Invalid(trial.EndCode(not.Exit, journal.InvalidCrashed), "%v", err)
	}
	return trial.Invalid(journal.InvalidNeverReady, "never ready: %v", err)
}

func (r *run) Look(context.Context) ([]trial.Reading, error) {
	readings, err := r.readServers()
	if err == nil {
		err = checkQuotas(slices.Concat(r.limited(r.fleet), r.neighbour.limited()))
	}
	if err == nil {
		err = r.fleet.limitsKept()
	}
	if err == nil && !r.looked {
		r.follow(r.fleet) // what is searched for is then found, before anything is measured
		r.outer, r.looked = r.fleet.limitsAround(), true
	}
	return readings, err
}

// Offer implements trial.Place. The options were checked before the sweep, so that a
// failure is the trial's: a target that does not listen any more, say.
func (r *run) Offer(ctx context.Context, o load.Options, count bool) (*load.Result, *journal.Usage, error) {
	var c *counters
	var usage *journal.Usage
	if count {
		o.Began = func() {
			c = r.count(r.fleet, r.outer)
			r.profiling.begin(ctx)
		}
		o.Ended = func() {
			usage = c.end(0)
		}
	}
	result, err := engine.Run(ctx, o)
	r.profiling.wait()
	if err != nil && ctx.Err() == nil {
		// A server that has just crashed refuses the load before it is known how it ended.
		for range 10 {
			if err := r.Check(ctx); err != nil {
				return nil, nil, err
			}
			time.Sleep(20 * time.Millisecond)
		}
		return nil, nil, trial.Invalid(journal.InvalidLoad, "the load generator could not start: %v", err)
	}
	if err == nil && c != nil {
		err = c.spell.end()
	}
	return result, usage, err
}

// patience is how much longer than the asked duration a load command may take.
const patience = time.Minute

package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/engine"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/measure/trial/foreign"
	"github.com/procfit/procfit/internal/program/target"
	"github.com/procfit/procfit/internal/show/number"
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

// Command offers load by the user's command and reads what it prints. Its latency is
// judged only where the command was given a {rate}, since a closed loop's restates the
// throughput, and where it counts from when a request was due.
func (r *run) Command(ctx context.Context) error {
	argv, err := r.loadCommand(r.spec.Load.Duration)
	if err != nil {
		return err
	}
	r.Observe.Tell(plan.Activity{Step: plan.StepLoadCommand, Detail: strings.Join(argv, " ")})
	c := r.count(r.fleet, r.outer)
	r.profiling.begin(ctx)
	output, exit, err := r.runLoad(ctx, argv, "-load", r.spec.Load.Duration)
	r.profiling.wait()
	cpu := exit.User + exit.System
	if !r.spec.LoadOnTargetHost() {
		cpu = 0 // of the command that reaches elsewhere: next to nothing
	}
	usage := c.end(cpu)
	if err == nil {
		err = c.spell.end()
	}
	if err != nil {
		return err
	}
	report, err := foreign.Read(argv, output)
	if err != nil {
		return trial.Invalid(journal.InvalidLoadOutput, "%v", err)
	}
	found, err := load.FindMetrics(output, r.spec.Load.Metrics)
	if err != nil {
		return trial.Invalid(journal.InvalidMetric, "%v", err)
	}
	trial.Metrics(r.Trial, report.Fill(found))
	var rate *float64
	if strings.Contains(r.spec.Load.Command, "{rate}") {
		rate = r.RatePerSecond
	}
	if err := trial.External(r.Trial, report, exit.Wall, rate, usage); err != nil {
		return trial.Quoted(err, trial.Quote(output))
	}
	if r.spec.LoadOnTargetHost() {
		if r.Trial.Load == nil {
			r.Trial.Load = &journal.LoadCost{}
		}
		r.Trial.Load.CPUSeconds = cpu.Seconds()
	}
	return nil
}

func (r *run) loadCommand(duration time.Duration) ([]string, error) {
	values := load.Values{URLs: r.fleet.urls(), Duration: duration, Connections: r.spec.Load.Connections}
	if r.RatePerSecond != nil {
		values.Rate = *r.RatePerSecond
	}
	return load.Expand(r.spec.Load.Command, values)
}

// WarmUpByCommand runs the user's command for the time of the warm-up. One that
// cannot be told how long to run would take as long as a measurement: it goes without.
func (r *run) WarmUpByCommand(ctx context.Context) error {
	if !strings.Contains(r.spec.Load.Command, "{duration}") {
		return nil
	}
	r.Step(plan.StepWarmup)
	argv, err := r.loadCommand(r.spec.Load.Warmup)
	if err != nil {
		return err
	}
	_, _, err = r.runLoad(ctx, argv, "-warmup", r.spec.Load.Warmup)
	return err
}

// runLoad runs the load command under a supervisor of its own: it too ends with procfit.
func (r *run) runLoad(ctx context.Context, argv []string, suffix string, duration time.Duration) (load.Output, supervisor.Exit, error) {
	logs, err := r.makeLogs(1, suffix)
	if err != nil {
		return load.Output{}, supervisor.Exit{}, err
	}
	defer closeLogs(logs)
	p, err := supervisor.Start(ctx, supervisor.Spec{Command: argv, Env: r.config.Environ, CPUs: r.spec.LoadCPUs(), Log: logs[0].file, LogLimit: trial.LogLimit})
	if err != nil {
		return load.Output{}, supervisor.Exit{}, fmt.Errorf("--load: %w", err)
	}
	limit := time.NewTimer(duration + patience)
	defer limit.Stop()
	select {
	case <-p.Done():
	case <-ctx.Done():
		_, stopped := p.Stop(0)
		return load.Output{}, supervisor.Exit{}, trial.Stopped(ctx.Err(), stopped)
	case <-limit.C:
		_, stopped := p.Stop(0)
		late := trial.Invalid(journal.InvalidLoad, "the load command did not end within %s after its duration; check that it uses {duration}", number.Chosen(patience))
		return load.Output{}, supervisor.Exit{}, trial.Stopped(late, stopped)
	}
	exit, err := p.Wait()
	if err == nil {
		err = logs[0].kept(exit)
	}
	if err != nil {
		return load.Output{}, exit, err
	}
	output, err := logs[0].output(exit)
	if err == nil && exit.Failed() {
		err = trial.Invalid(journal.InvalidLoad, "the load command %v; %s", exit, trial.Quote(output))
	}
	return output, exit, err
}

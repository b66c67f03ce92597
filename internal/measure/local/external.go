package local

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/measure/trial/foreign"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// external offers load by the user's command and reads what it prints. Its latency is
// judged only where it was told a {rate}, since a closed loop's restates the
// throughput, and where it counts from when a request was due.
func (r *run) external(ctx context.Context, f fleet, outer []observe.Limit) error {
	argv, err := r.loadCommand(f, r.spec.Load.Duration)
	if err != nil {
		return err
	}
	r.observe.Tell(plan.Activity{Step: plan.StepLoadCommand, Detail: strings.Join(argv, " ")})
	c := r.count(f, outer)
	output, exit, err := r.runLoad(ctx, argv, "-load", r.spec.Load.Duration)
	cpu := exit.User + exit.System
	if !r.spec.LoadOnTargetHost() {
		cpu = 0 // of the command that reaches elsewhere: next to nothing
	}
	usage := c.end(cpu)
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
	trial.Metrics(r.trial, report.Fill(found))
	var rate *float64
	if strings.Contains(r.spec.Load.Command, "{rate}") {
		rate = r.task.RatePerSecond
	}
	if err := trial.External(r.trial, report, exit.Wall, rate, usage); err != nil {
		return trial.Quoted(err, quote(output))
	}
	if r.spec.LoadOnTargetHost() {
		if r.trial.Load == nil {
			r.trial.Load = &journal.LoadCost{}
		}
		r.trial.Load.CPUSeconds = cpu.Seconds()
	}
	return nil
}

func (r *run) loadCommand(f fleet, duration time.Duration) ([]string, error) {
	values := load.Values{URLs: f.urls(), Duration: duration, Connections: r.spec.Load.Connections}
	if r.task.RatePerSecond != nil {
		values.Rate = *r.task.RatePerSecond
	}
	return load.Expand(r.spec.Load.Command, values)
}

// warmUpExternally runs the user's command for the time of the warm-up. One that
// cannot be told how long would take as long as a measurement: it goes without.
func (r *run) warmUpExternally(ctx context.Context, f fleet) error {
	if !strings.Contains(r.spec.Load.Command, "{duration}") {
		return nil
	}
	r.step(plan.StepWarmup)
	argv, err := r.loadCommand(f, r.spec.Load.Warmup)
	if err != nil {
		return err
	}
	_, _, err = r.runLoad(ctx, argv, "-warmup", r.spec.Load.Warmup)
	return err
}

// runLoad runs the load command under a supervisor of its own, so that it too
// ends with procfit.
func (r *run) runLoad(ctx context.Context, argv []string, suffix string, duration time.Duration) (load.Output, supervisor.Exit, error) {
	logs, err := r.logs(1, suffix)
	if err != nil {
		return load.Output{}, supervisor.Exit{}, err
	}
	defer closeLogs(logs)
	p, err := supervisor.Start(ctx, supervisor.Spec{Command: argv, Env: r.config.Environ, CPUs: r.spec.LoadCPUs(), Log: logs[0].file, LogLimit: logLimit})
	if err != nil {
		return load.Output{}, supervisor.Exit{}, fmt.Errorf("--load: %w", err)
	}
	limit := time.NewTimer(duration + patience)
	defer limit.Stop()
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Stop(0)
		return load.Output{}, supervisor.Exit{}, ctx.Err()
	case <-limit.C:
		p.Stop(0)
		return load.Output{}, supervisor.Exit{}, trial.Invalid(journal.InvalidLoad, "the load command did not end within %s of the duration that it was given", patience)
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
		err = trial.Invalid(journal.InvalidLoad, "the load command %v; %s", exit, quote(output))
	}
	return output, exit, err
}

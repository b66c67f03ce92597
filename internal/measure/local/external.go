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
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
)

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

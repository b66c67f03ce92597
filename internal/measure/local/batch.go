package local

import (
	"context"
	"errors"
	"time"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/gobench"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// ran is one run of a batch program, of all its replicas at once.
type ran struct {
	wall     time.Duration // of the slowest replica
	usage    journal.Usage
	readings []trial.Reading
	outputs  []load.Output
	metrics  map[string]load.Value
}

// batch is a batch program's trial: runs one after the other, until their time is
// used, and at least one.
func (r *run) batch(ctx context.Context) error {
	replicas := r.task.Arm.Replicas
	logs, err := r.logs(replicas, "")
	if err != nil {
		return err
	}
	defer closeLogs(logs)
	r.trial.Log = logs[0].path
	if err := r.startBeside(ctx, 0); err != nil {
		return err
	}
	defer r.beside.end(r.spec.Target.Grace)
	r.step(plan.StepWarmup)
	for spent := time.Duration(0); spent < r.spec.Load.Warmup; {
		one, err := r.once(ctx, logs)
		if err != nil {
			return err
		}
		spent += max(one.wall, time.Microsecond)
	}
	began, err := r.readHost()
	if err != nil && r.sampler != nil {
		return err
	}
	beside := r.besideUsed()
	var all []ran
	var wall time.Duration
	for len(all) == 0 || wall < r.spec.Target.RunFor {
		one, err := r.once(ctx, logs)
		if err != nil {
			return err
		}
		wall += max(one.wall, time.Microsecond)
		all = append(all, one)
	}
	if err := r.beside.stands(); err != nil {
		return err
	}
	for i := range all {
		addUsage(&r.trial.Usage, all[i].usage)
	}
	if err := r.hostOfRuns(began, r.besideSince(beside)); err != nil && r.sampler != nil {
		r.uncounted(err)
	}
	if err := trial.Procs(r.trial, bestReadings(all), nil); err != nil {
		return err
	}
	r.trial.ProcsLogged = logsProcs(all[0].outputs[0])
	trial.Runs(r.trial, len(all)*replicas, wall)
	if err := trial.Stolen(r.trial); err != nil {
		return err
	}
	return r.figures(all)
}

// bestReadings are, of each replica, the last that told anything.
func bestReadings(all []ran) []trial.Reading {
	best := all[0].readings
	for _, one := range all[1:] {
		for i, now := range one.readings {
			if now.Err == nil {
				best[i] = now
			}
		}
	}
	return best
}

// once is one run from exec to exit.
func (r *run) once(ctx context.Context, logs []*log) (one ran, err error) {
	for _, l := range logs {
		if err := l.next(); err != nil {
			return one, &unkept{err.Error()}
		}
	}
	if err := r.prepare(ctx); err != nil {
		return one, err
	}
	r.step(plan.StepRun)
	began := time.Now()
	f, err := r.start(ctx, logs)
	if err != nil {
		return one, err
	}
	defer f.end(0)
	limited, cancel := r.limit(ctx)
	defer cancel()
	one.readings, one.usage, err = r.watch(limited, f, began)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return one, trial.Invalid(journal.InvalidTimeout, "did not end within %s", r.spec.Target.RunTimeout)
	}
	if err != nil {
		return one, err
	}
	if err := r.account(f, logs, &one); err != nil {
		return one, err
	}
	if err := f.end(0); err != nil {
		return one, err
	}
	if len(r.spec.Load.Metrics) == 0 {
		return one, nil
	}
	if one.metrics, err = load.JoinMetrics(one.outputs, r.spec.Load.Metrics); err != nil {
		return one, trial.Invalid(journal.InvalidMetric, "%v", err)
	}
	return one, nil
}

// prepare runs what is to run before each run.
func (r *run) prepare(ctx context.Context) error {
	argv := r.spec.Target.Prepare
	if len(argv) == 0 {
		return nil
	}
	r.step(plan.StepPrepare)
	out, err := supervisor.Run(ctx, supervisor.Spec{Command: argv, Env: environment(r.config.Environ, nil)})
	if err != nil {
		return err
	}
	if out.Exit.Failed() {
		return trial.Invalid(journal.InvalidPrepare, "--prepare: the command %v; %s", out.Exit, supervisor.QuoteOutput(append(out.Stdout, out.Stderr...), quotedLines))
	}
	return nil
}

// limit bounds a run in time.
func (r *run) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.spec.Target.RunTimeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, r.spec.Target.RunTimeout)
}

// watch follows the fleet to its end. Programs may live for a few milliseconds
// only, so it looks often at first.
func (r *run) watch(ctx context.Context, f fleet, began time.Time) ([]trial.Reading, journal.Usage, error) {
	c := r.count(nil, f.limitsAround())
	readings := make([]trial.Reading, len(f))
	for i := range readings {
		readings[i].Err = errors.New("it ended before it could be read")
	}
	var seen passing
	const slowest = 100 * time.Millisecond
	for pause := time.Millisecond; ; pause = min(pause*3/2, slowest) {
		pids := r.look(f, readings)
		if pids == nil && f.anyDone() == nil {
			break
		}
		seen.look(r, f, began, pause)
		if c.err == nil {
			c.span.Look(pids)
		}
		select {
		case <-ctx.Done():
			return nil, journal.Usage{}, ctx.Err()
		case <-f.anyDone():
			pause = time.Millisecond
		case <-time.After(pause):
		}
	}
	c.fleet = f
	if r.task.Arm.QuotaCPUs != nil { // the group was made for this run
		c.groups = make([]cgroup.Stats, len(f))
	}
	usage := c.end(0)
	if usage == nil {
		return readings, journal.Usage{}, nil
	}
	seen.record(usage)
	return readings, *usage, nil
}

// look reads the replicas that still run, and returns their processes.
func (r *run) look(f fleet, readings []trial.Reading) (all []int) {
	for i, one := range f {
		if one.ended() {
			continue
		}
		pids := one.pids()
		all = append(all, pids...)
		if now := r.readBusiest(pids); now.Err == nil || readings[i].Procs == 0 && len(pids) > 0 {
			readings[i] = now
		}
	}
	return all
}

// account takes what the kernel says of the ended processes, which is complete
// where the looks in between were not.
func (r *run) account(f fleet, logs []*log, one *ran) error {
	cpu, switches := journal.CPUSeconds{}, journal.ContextSwitches{}
	for i, replica := range f {
		exit, err := replica.Wait()
		if err != nil {
			return err
		}
		if err := logs[i].kept(exit); err != nil {
			return err
		}
		if exit.Failed() {
			return trial.Invalid(journal.InvalidExit, "the program %v; %s", exit, replica.LastWords(quotedLines))
		}
		output, err := logs[i].output(exit)
		if err != nil {
			return err
		}
		one.outputs = append(one.outputs, output)
		one.wall = max(one.wall, exit.Wall)
		cpu.User += exit.User.Seconds()
		cpu.System += exit.System.Seconds()
		switches.Voluntary += exit.VoluntarySwitches
		switches.Involuntary += exit.InvoluntarySwitches
	}
	one.usage.CPUSeconds, one.usage.ContextSwitches, one.usage.MeasuredSeconds = &cpu, &switches, one.wall.Seconds()
	return nil
}

// figures is the trial's throughput: what the benchmarks or --metric say, else runs
// a second.
func (r *run) figures(all []ran) error {
	var found []map[string]load.Value
	var results []gobench.Result
	for _, one := range all {
		if r.spec.Target.Kind() == journal.KindGoBench {
			of, err := r.benchmarks(one.outputs[0])
			if err != nil {
				return err
			}
			results = append(results, of...)
		}
		if one.metrics != nil {
			found = append(found, one.metrics)
		}
	}
	if r.spec.Target.Kind() == journal.KindGoBench {
		required := !r.spec.Target.Benchmarks
		if err := trial.Benchmarks(r.trial, results, required); err != nil {
			return trial.Quoted(err, quote(all[len(all)-1].outputs[0]))
		}
	}
	if found == nil {
		return nil
	}
	mean := trial.Mean(found)
	trial.Metrics(r.trial, mean)
	return trial.JudgedMetric(r.trial, r.spec.Load.Metrics, mean)
}

// benchmarks are the Go benchmark lines of an output.
func (r *run) benchmarks(output load.Output) ([]gobench.Result, error) {
	procs := 0
	if observed := r.trial.ObservedProcs; len(observed) > 0 && observed[0] != nil {
		procs = *observed[0]
	}
	results, err := gobench.ParseOutput(append(output.Head, output.Tail...), procs)
	if err != nil {
		return nil, trial.Invalid(journal.InvalidNoBenchmark, "%v", err)
	}
	return results, nil
}

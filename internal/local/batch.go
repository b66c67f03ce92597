package local

import (
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/procfit/procfit/internal/cgroup"
	"github.com/procfit/procfit/internal/gobench"
	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/observe"
	"github.com/procfit/procfit/internal/supervisor"
	"github.com/procfit/procfit/internal/sweep"
)

// isGoBench tells a go test -bench command.
func isGoBench(command []string) bool {
	test, err := gobench.Parse(command)
	return test != nil || err != nil
}

// batch is a batch program's trial: one run of it from exec to exit.
func (r *Runner) batch(ctx context.Context, task sweep.Task, t *journal.Trial) error {
	began, err := observe.MachineCPU()
	if err != nil {
		return err
	}
	f, err := r.start(ctx, task)
	if err != nil {
		return err
	}
	defer f.end(0)
	r.Phase("running")
	t.Log = relativeLog(f[0].log)
	limited, cancel := r.limit(ctx)
	reading, use, err := r.watch(limited, f)
	cancel()
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return invalidf("did not end within %s", r.config.Limit)
	}
	if err != nil {
		return err
	}
	record(use, t)
	if now, err := observe.MachineCPU(); err == nil {
		host := now.Since(began)
		t.HostUse = &journal.HostUse{StealSeconds: host.Steal.Seconds(), BusyRatio: host.BusyRatio}
	}
	if groups := f.throttling(); task.Arm.QuotaCPUs != nil && groups != nil {
		t.Cgroup = throttledSince(make([]cgroup.Stats, len(groups)), groups)
	}
	wall, err := r.account(f, t)
	if err != nil {
		return err
	}
	if err := f.end(0); err != nil {
		return err
	}
	if err := reading.judge(task.Arm, nil, t); err != nil {
		return err
	}
	return r.batchFigures(task, f, wall, t)
}

// limit bounds a run in time.
func (r *Runner) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.config.Limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, r.config.Limit)
}

// watch follows the fleet to its end. Programs may live for a few milliseconds
// only, so it looks often at first.
func (r *Runner) watch(ctx context.Context, f fleet) (procsReading, observe.Use, error) {
	span, err := r.sampler.Start(nil)
	if err != nil {
		return nil, observe.Use{}, err
	}
	reading := make(procsReading, len(f))
	for i := range reading {
		reading[i].err = fmt.Errorf("it ended before it could be read")
	}
	const slowest = 100 * time.Millisecond
	for pause := time.Millisecond; ; pause = min(pause*3/2, slowest) {
		alive := false
		var all []int
		for i, one := range f {
			select {
			case <-one.Done():
				continue
			default:
			}
			alive = true
			pids := one.pids()
			all = append(all, pids...)
			pid, ok := r.reader.BusiestGo(pids)
			if !ok {
				continue
			}
			if now := r.procsOf(pid); now.err == nil || reading[i].live.Procs == 0 {
				reading[i] = now
			}
		}
		if !alive {
			return reading, span.Delta(), nil
		}
		span.Look(all)
		select {
		case <-ctx.Done():
			return nil, observe.Use{}, ctx.Err()
		case <-f.anyDone():
			pause = time.Millisecond
		case <-time.After(pause):
		}
	}
}

// anyDone is closed when the first replica that still ran has ended.
func (f fleet) anyDone() <-chan struct{} {
	for _, one := range f {
		select {
		case <-one.Done():
		default:
			return one.Done()
		}
	}
	return nil
}

// account takes what the kernel says of the ended processes, which is complete
// where the looks in between were not.
func (r *Runner) account(f fleet, t *journal.Trial) (wall time.Duration, err error) {
	cpu, switches := journal.CPUSeconds{}, journal.ContextSwitches{}
	for _, one := range f {
		exit, err := one.Wait()
		if err != nil {
			return 0, err
		}
		if err := kept(exit); err != nil {
			return 0, err
		}
		if exit.Code != 0 {
			return 0, invalidf("the program %v; %s", exit, one.LastWords(quotedLines))
		}
		wall = max(wall, exit.Wall)
		cpu.User += exit.User.Seconds()
		cpu.System += exit.System.Seconds()
		switches.Voluntary += exit.VoluntarySwitches
		switches.Involuntary += exit.InvoluntarySwitches
	}
	t.CPUSeconds, t.ContextSwitches, t.MeasuredSeconds = &cpu, &switches, wall.Seconds()
	return wall, nil
}

// batchFigures is the trial's throughput: what the benchmarks or --metric say,
// else runs a second.
func (r *Runner) batchFigures(task sweep.Task, f fleet, wall time.Duration, t *journal.Trial) error {
	t.Phases = []journal.Phase{{Mode: journal.ModeBatch, DurationSeconds: wall.Seconds(), AchievedPerSecond: float64(len(f)) / wall.Seconds(), Requests: int64(len(f))}}
	t.ThroughputPerSecond, t.ThroughputUnit = &t.Phases[0].AchievedPerSecond, "runs"
	if r.config.Kind() != GoBench && len(r.config.Metrics) == 0 {
		return nil
	}
	if r.config.Kind() == GoBench {
		output, err := os.ReadFile(f[0].log)
		if err != nil {
			return err
		}
		if err := r.benchFigures(output, t); err != nil {
			return err
		}
	}
	found, err := f.metrics(r.config.Metrics)
	if err != nil {
		return invalidf("%v", err)
	}
	addMetrics(t, found)
	if len(r.config.Metrics) > 0 {
		return judgedMetric(r.config.Metrics, found, t)
	}
	return nil
}

// judgedMetric makes one metric the throughput: the one of that name, else the
// first. One of which less is better is judged by its reciprocal.
func judgedMetric(metrics []load.Metric, found map[string]load.Value, t *journal.Trial) error {
	name := metrics[0].Name
	if _, ok := found["throughput"]; ok {
		name = "throughput"
	}
	v := found[name]
	if v.Value <= 0 {
		return invalidf("metric %s is %g, which cannot be compared as a ratio", name, v.Value)
	}
	value := v.Value
	t.ThroughputUnit = name
	if v.Better == load.BetterLower {
		value, t.ThroughputUnit = 1/value, "1/"+name
	}
	t.ThroughputPerSecond = &value
	return nil
}

// benchFigures reads Go benchmark lines. The throughput is operations a second,
// the geometric mean over the benchmarks, so that none outweighs the others. A
// program that prints none of time is left with its runs a second.
func (r *Runner) benchFigures(output []byte, t *journal.Trial) error {
	procs := 0
	if len(t.ObservedProcs) > 0 && t.ObservedProcs[0] != nil {
		procs = *t.ObservedProcs[0]
	}
	results, err := gobench.ParseOutput(output, procs)
	if err != nil {
		return invalidf("%v", err)
	}
	found := map[string]load.Value{}
	var logs, n float64
	for _, b := range results {
		for unit, v := range b.Values {
			better := load.BetterLower
			if len(unit) > 2 && unit[len(unit)-2:] == "/s" {
				better = load.BetterHigher
			}
			found[b.Name+" "+unit] = load.Value{Value: v, Unit: unit, Better: better}
		}
		if ns := b.Values["ns/op"]; ns > 0 {
			logs += math.Log(1e9 / ns)
			n++
		}
	}
	if n == 0 && r.config.Benchmarks && len(results) > 0 {
		addMetrics(t, found)
		return nil
	}
	if n == 0 {
		return invalidf("no benchmark ran: does -bench match one? %s", supervisor.QuoteOutput(output, quotedLines))
	}
	addMetrics(t, found)
	mean := math.Exp(logs / n)
	t.ThroughputPerSecond, t.ThroughputUnit = &mean, "operations"
	return nil
}

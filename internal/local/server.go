package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/observe"
	"github.com/procfit/procfit/internal/sweep"
)

// serve is a server's trial: start, ready, warm-up, closed loop, open loop, stop.
func (r *Runner) serve(ctx context.Context, task sweep.Task, t *journal.Trial) error {
	r.Phase("starting")
	f, err := r.start(ctx, task)
	if err != nil {
		return err
	}
	defer f.end(r.config.Grace)
	t.Log = relativeLog(f[0].log)
	if err := r.ready(ctx, f); err != nil {
		return err
	}
	err = r.offer(ctx, task, f, t)
	// What the target itself said is worth more than the load's view of it.
	if dead := f.crashed(); dead != nil && ctx.Err() == nil {
		exit, err := dead.Wait()
		if err != nil {
			return invalidf("the target was lost during the trial: %v", err)
		}
		if err := kept(exit); err != nil {
			return err
		}
		return invalidf("the target %v during the trial; %s", exit, dead.LastWords(quotedLines))
	}
	if err != nil {
		return err
	}
	if err := f.end(r.config.Grace); err != nil {
		return err
	}
	killed := false
	for _, one := range f {
		exit, _ := one.Wait()
		if err := kept(exit); err != nil {
			return err
		}
		killed = killed || exit.Killed
	}
	if killed {
		t.Warnings = append(t.Warnings, journal.Warning{Code: journal.WarnKilled, Value: new(r.config.Grace.Seconds())})
	}
	return r.printed(f, t)
}

// ready waits for all replicas at once.
func (r *Runner) ready(ctx context.Context, f fleet) error {
	r.Phase("waiting for the URL")
	results := make([]error, len(f))
	var all sync.WaitGroup
	for i, one := range f {
		all.Go(func() { results[i] = one.Ready(ctx, one.url, r.config.ReadyTimeout) })
	}
	all.Wait()
	if err := errors.Join(results...); err != nil && ctx.Err() == nil {
		return invalidf("never ready: %v", err)
	}
	return ctx.Err()
}

// offer loads the fleet and gathers the evidence.
func (r *Runner) offer(ctx context.Context, task sweep.Task, f fleet, t *journal.Trial) error {
	if r.config.Warmup > 0 {
		r.Phase("warm-up")
		if _, err := offerLoad(ctx, r.config.loadOptions(f.urls(), 0, r.config.Warmup)); err != nil {
			return err
		}
	}
	procs, err := r.procsOfServers(f)
	if err != nil {
		return err
	}
	var failures string
	if r.config.LoadCommand != "" {
		m := r.begin(task.Arm, f)
		err = r.external(ctx, task, f, t)
		m.end(t)
	} else {
		failures, err = r.loops(ctx, task, f, t)
	}
	if err != nil {
		return err
	}
	after, err := r.procsOfServers(f)
	if err != nil {
		return err
	}
	if err := procs.judge(task.Arm, after, t); err != nil {
		return err
	}
	return r.judgeLoad(t, failures)
}

// loops runs the closed loop, which the counters span, and the open loop. It
// returns in words what went wrong with requests, if anything did.
func (r *Runner) loops(ctx context.Context, task sweep.Task, f fleet, t *journal.Trial) (failures string, err error) {
	half := r.config.Duration / 2
	r.Phase("closed loop")
	options := r.config.loadOptions(f.urls(), 0, half)
	var m *measurement
	options.Began = func() { m = r.begin(task.Arm, f) }
	options.Ended = func() { m.end(t) }
	closed, err := offerLoad(ctx, options)
	if err != nil {
		return "", err
	}
	if err := addPhase(t, closed); err != nil {
		return "", err
	}
	failures = failuresOf(closed)
	if closed.AchievedPerSecond == 0 {
		if failures == "" {
			failures = fmt.Sprintf("%d requests were still waiting; give a longer --duration", closed.Unanswered+closed.Requests)
		}
		return "", invalidf("no request got a good answer within the %s of the closed loop: %s", half, failures)
	}
	t.ThroughputPerSecond, t.ThroughputUnit = &closed.AchievedPerSecond, "requests"
	cost := CostOf(closed)
	t.Load = &cost
	if task.RatePerSecond == nil {
		return failures, nil
	}
	r.Phase(fmt.Sprintf("open loop at %.4g requests/s", *task.RatePerSecond))
	open, err := offerLoad(ctx, r.config.loadOptions(f.urls(), *task.RatePerSecond, half))
	if err != nil {
		return "", err
	}
	if err := addPhase(t, open); err != nil {
		return "", err
	}
	if failures == "" {
		failures = failuresOf(open)
	}
	paced := CostOf(open)
	t.Load.SendLagP99Seconds, t.Load.Dropped = paced.SendLagP99Seconds, paced.Dropped
	t.LatencySeconds = t.Phases[len(t.Phases)-1].LatencySeconds
	t.Saturated = open.AchievedPerSecond < carried**task.RatePerSecond
	return failures, nil
}

// offerLoad runs our own engine. The options were checked before the sweep, so
// that a failure is the trial's: a target that listens no more, say.
func offerLoad(ctx context.Context, o load.Options) (*load.Result, error) {
	result, err := load.Run(ctx, o)
	if err != nil && ctx.Err() == nil {
		return nil, invalidf("no load could be offered: %v", err)
	}
	return result, err
}

// failuresOf is what went wrong most often, with its number.
func failuresOf(l *load.Result) string {
	var most load.Kind
	for _, kind := range slices.Sorted(maps.Keys(l.ErrorKinds)) {
		if most == "" || l.ErrorKinds[kind] > l.ErrorKinds[most] {
			most = kind
		}
	}
	if most == "" {
		return ""
	}
	return fmt.Sprintf("%d × %s", l.ErrorKinds[most], most.Words())
}

// carried is the share of the offered rate below which an arm is saturated.
const carried = 0.99

func addPhase(t *journal.Trial, l *load.Result) error {
	encoded, err := l.Encoded()
	if err != nil {
		return err
	}
	t.Phases = append(t.Phases, PhaseOf(l, encoded))
	for _, kind := range slices.Sorted(maps.Keys(l.ErrorKinds)) {
		t.Warnings = append(t.Warnings, journal.Warning{Code: journal.WarnFailedRequests, Phase: journal.Mode(l.Mode), Count: l.ErrorKinds[kind], Detail: string(kind)})
	}
	return nil
}

// PhaseOf is a run of the load engine as the journal has it.
func PhaseOf(l *load.Result, encoded string) journal.Phase {
	p := journal.Phase{
		Mode: journal.Mode(l.Mode), DurationSeconds: l.Duration.Seconds(), AchievedPerSecond: l.AchievedPerSecond,
		Requests: l.Requests, Errors: l.Errors, Histogram: encoded,
	}
	if l.Mode == load.ModeOpen {
		p.RatePerSecond = &l.Rate
	}
	if l.Latency.TotalCount() > 0 {
		at := func(quantile float64) *float64 {
			v := time.Duration(l.Latency.ValueAtQuantile(quantile)).Seconds()
			return &v
		}
		mean := l.Latency.Mean() / 1e9
		p.LatencySeconds = &journal.Latency{P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: at(100), Mean: &mean}
	}
	return p
}

// CostOf is what a run of the load engine cost, and how well it kept its pace.
func CostOf(l *load.Result) journal.LoadCost {
	c := journal.LoadCost{CPUSeconds: (l.User + l.System).Seconds(), ThreadBusiestRatio: &l.Busiest, Dropped: l.Dropped}
	if l.SendLag != nil {
		lag := time.Duration(l.SendLag.ValueAtQuantile(99)).Seconds()
		c.SendLagP99Seconds = &lag
	}
	return c
}

// procsOfServers reads the live GOMAXPROCS of the Go process that owns each
// replica's listening socket.
func (r *Runner) procsOfServers(f fleet) (procsReading, error) {
	var reading procsReading
	for _, one := range f {
		pids := one.pids()
		pid, err := observe.Listener(one.port, pids)
		var taken *observe.TakenError
		if errors.As(err, &taken) && f.crashed() == nil {
			return nil, fmt.Errorf("%w, which would be measured in place of the target: stop it, or write {port} in the command and the URL", err)
		}
		if err != nil {
			// The socket may be out of sight (another host, another namespace): the
			// busiest Go program then stands for the server.
			pid, _ = r.reader.BusiestGo(pids)
		}
		reading = append(reading, r.procsOf(pid))
	}
	return reading, nil
}

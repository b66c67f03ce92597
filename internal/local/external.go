package local

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/supervisor"
	"github.com/procfit/procfit/internal/sweep"
)

// externalPatience is how much longer than the asked duration a load command may
// take.
const externalPatience = time.Minute

// external offers load by the user's command and reads what it prints. Its
// latency is judged only where it was told a {rate}: a closed loop's latency
// restates the throughput.
func (r *Runner) external(ctx context.Context, task sweep.Task, f fleet, t *journal.Trial) error {
	values := load.Values{Duration: r.config.Duration, Connections: r.config.Connections}
	for _, one := range f {
		values.URLs = append(values.URLs, one.url)
	}
	if task.RatePerSecond != nil {
		values.Rate = *task.RatePerSecond
	}
	argv, err := load.Expand(r.config.LoadCommand, values)
	if err != nil {
		return err
	}
	r.Phase("load: " + strings.Join(argv, " "))
	output, exit, err := r.runLoad(ctx, argv, strings.TrimSuffix(f[0].log, ".log")+"-load.log")
	if err != nil {
		return err
	}
	if exit.Code != 0 {
		return invalidf("the load command %v; %s", exit, supervisor.QuoteOutput(output, quotedLines))
	}
	figures, err := load.Recognise(argv, output).Parse(output)
	if err != nil {
		return invalidf("%v", err)
	}
	found, err := load.FindMetrics(keptOutput(output), r.config.Metrics)
	if err != nil {
		return invalidf("%v", err)
	}
	addMetrics(t, figures.Fill(found))
	if figures.Throughput == nil {
		return invalidf("the load command printed no throughput that procfit knows (it knows wrk's and hey's): name it with --metric 'throughput=REGEXP'; %s", supervisor.QuoteOutput(output, quotedLines))
	}
	phase := phaseOfFigures(figures, exit.Wall)
	if strings.Contains(r.config.LoadCommand, "{rate}") && task.RatePerSecond != nil {
		phase.Mode, phase.RatePerSecond = journal.ModeOpen, task.RatePerSecond
		t.LatencySeconds = phase.LatencySeconds
		t.Saturated = phase.AchievedPerSecond < carried**task.RatePerSecond
	}
	t.Phases = append(t.Phases, phase)
	t.ThroughputPerSecond, t.ThroughputUnit = figures.Throughput, "requests"
	if r.config.LoadOnThisMachine() {
		t.Load = &journal.LoadCost{CPUSeconds: (exit.User + exit.System).Seconds()}
	}
	return nil
}

// runLoad runs the load command under a supervisor of its own, so that it too
// ends with procfit.
func (r *Runner) runLoad(ctx context.Context, argv []string, log string) ([]byte, supervisor.Exit, error) {
	file, err := createLog(log)
	if err != nil {
		return nil, supervisor.Exit{}, err
	}
	p, err := supervisor.Start(ctx, supervisor.Spec{Command: argv, Env: r.config.Environ, CPUs: r.config.LoadCPUs, Log: file, LogLimit: logLimit})
	file.Close()
	if err != nil {
		return nil, supervisor.Exit{}, fmt.Errorf("--load: %w", err)
	}
	limit := time.NewTimer(r.config.Duration + externalPatience)
	defer limit.Stop()
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Stop(0)
		return nil, supervisor.Exit{}, ctx.Err()
	case <-limit.C:
		p.Stop(0)
		return nil, supervisor.Exit{}, invalidf("the load command did not end within %s of the duration that it was given", externalPatience)
	}
	exit, err := p.Wait()
	if err != nil {
		return nil, exit, err
	}
	if err := kept(exit); err != nil {
		return nil, exit, err
	}
	output, err := os.ReadFile(log)
	return output, exit, err
}

func phaseOfFigures(f *load.Figures, wall time.Duration) journal.Phase {
	p := journal.Phase{Mode: journal.ModeClosed, DurationSeconds: wall.Seconds(), AchievedPerSecond: *f.Throughput}
	p.Requests = max(1, int64(*f.Throughput*wall.Seconds())) // it gave a throughput, so some were
	if f.Requests != nil {
		p.Requests = int64(*f.Requests)
	}
	if f.Errors != nil {
		p.Errors = int64(*f.Errors)
	}
	if f.P50 != nil || f.P99 != nil || f.Mean != nil {
		p.LatencySeconds = &journal.Latency{P50: f.P50, P90: f.P90, P99: f.P99, Max: f.Max, Mean: f.Mean}
	}
	return p
}

func addMetrics(t *journal.Trial, found map[string]load.Value) {
	for name, v := range found {
		if t.Metrics == nil {
			t.Metrics = map[string]journal.Metric{}
		}
		t.Metrics[name] = journal.Metric{Value: v.Value, Unit: v.Unit, Better: v.Better}
	}
}

// printed reads the --metric figures of a server that our own engine loaded from
// what the server printed.
func (r *Runner) printed(f fleet, t *journal.Trial) error {
	if len(r.config.Metrics) == 0 || r.config.LoadCommand != "" {
		return nil
	}
	found, err := f.metrics(r.config.Metrics)
	if err != nil {
		return invalidf("%v", err)
	}
	addMetrics(t, found)
	return nil
}

// metrics finds the --metric figures in what the replicas printed.
func (f fleet) metrics(metrics []load.Metric) (map[string]load.Value, error) {
	outputs := make([]load.Output, len(f))
	for i, one := range f {
		log, err := os.ReadFile(one.log)
		if err != nil {
			return nil, err
		}
		outputs[i] = keptOutput(log)
	}
	return load.JoinMetrics(outputs, metrics)
}

// keptOutput is what a log has of an output: of a long one the first and the last
// half, with a line between them, of the length of which nothing is known.
func keptOutput(log []byte) load.Output {
	if len(log) <= logLimit {
		return load.Output{Head: log}
	}
	const head = logLimit - logLimit/2
	return load.Output{Head: log[:head], Cut: true, Tail: log[len(log)-logLimit/2:]}
}

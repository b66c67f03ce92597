package trial

import (
	"context"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/program/gobench"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Ran is one run of a batch program, of all its replicas at once.
type Ran struct {
	Wall     time.Duration // of the slowest replica
	Took     time.Duration // with its start and what is read at its end, without --prepare; 0: not known
	Usage    journal.Usage // its HostUse is of all measured runs so far
	Readings []Reading
	Outputs  []load.Output
}

// startShare bounds a trial of a program that ends within milliseconds, whose start
// takes longer than its run: a trial takes at most that many times what its runs may use.
const startShare = 3

// used is what a run takes of the time for the runs of its trial.
func (one Ran) used() time.Duration {
	return max(one.Wall, one.Took/startShare, time.Microsecond)
}

// batch runs a batch program until the time of the runs is used, and at least once.
func (t *Task) batch(ctx context.Context, p Place) error {
	if t.Spec.Load.Warmup > 0 {
		t.Step(plan.StepWarmup)
	}
	for spent := time.Duration(0); spent < t.Spec.Load.Warmup; {
		one, err := p.RunOnce(ctx, false)
		if err != nil {
			return err
		}
		spent += one.used()
	}
	var all []Ran
	var found []map[string]load.Value
	var wall, used time.Duration
	for len(all) == 0 || used < t.Spec.Target.RunFor {
		one, err := p.RunOnce(ctx, true)
		if err != nil {
			return err
		}
		metrics, err := t.metrics(one.Outputs)
		if err != nil {
			return err
		}
		found = append(found, metrics)
		wall += max(one.Wall, time.Microsecond)
		used += one.used()
		if len(all) > 0 && t.Spec.Target.Kind() != journal.KindGoBench {
			one.Outputs = nil // nobody reads them again, and those of all runs may take gigabytes
		}
		all = append(all, one)
		addUsage(&t.Trial.Usage, one.Usage)
	}
	readings := bestReadings(all)
	if err := t.refuse(readings); err != nil {
		return err
	}
	if err := JudgeProcs(t.Trial, readings, nil); err != nil {
		return err
	}
	t.logged(all[0].Outputs)
	addRuns(t.Trial, len(all)*t.Setting.Replicas, wall)
	if err := judgeStolen(t.Trial); err != nil {
		return err
	}
	return t.figures(all, found)
}

// bestReadings are, of each replica, the last of those that say most.
func bestReadings(all []Ran) []Reading {
	best := all[0].Readings
	for _, one := range all[1:] {
		for i, now := range one.Readings {
			if now.tells() >= best[i].tells() {
				best[i] = now
			}
		}
	}
	return best
}

// metrics finds what --metric names in the outputs of all replicas.
func (t *Task) metrics(outputs []load.Output) (map[string]load.Value, error) {
	if len(t.Spec.Load.Metrics) == 0 {
		return nil, nil
	}
	found, err := load.JoinMetrics(outputs, t.Spec.Load.Metrics)
	if err != nil {
		return nil, Invalid(journal.InvalidMetric, "%v", err)
	}
	return found, nil
}

// figures is the trial's throughput: of the benchmarks or --metric, which was found in each run, else runs per second.
func (t *Task) figures(all []Ran, found []map[string]load.Value) error {
	if t.Spec.Target.Kind() == journal.KindGoBench {
		var results []gobench.Result
		var lost []string
		for _, one := range all {
			of, without, err := t.benchmarks(one.Outputs[0])
			if err != nil {
				return err
			}
			results, lost = append(results, of...), append(lost, without...)
		}
		if err := addBenchmarks(t.Trial, results, lost, !t.Spec.Target.Benchmarks); err != nil {
			return Quoted(err, Quote(all[len(all)-1].Outputs[0]))
		}
	}
	if len(t.Spec.Load.Metrics) == 0 {
		return nil
	}
	figures := mean(found)
	Metrics(t.Trial, figures)
	return judgeMetric(t.Trial, t.Spec.Load.Metrics, figures)
}

// benchmarks are the Go benchmark results of an output, and those that have none. One that
// is cut may lack some: the mean over fewer benchmarks cannot be compared with that over all.
func (t *Task) benchmarks(output load.Output) (results []gobench.Result, lost []string, err error) {
	if output.Cut {
		return nil, nil, Invalid(journal.InvalidNoBenchmark, "the output was too long to keep whole, so benchmark lines may be missing: print less, for example without -v")
	}
	procs := 0
	if observed := t.Trial.ObservedProcs; len(observed) > 0 && observed[0] != nil {
		procs = *observed[0]
	}
	results, lost, err = gobench.ParseOutput(output.Head, procs)
	if err != nil {
		return nil, nil, Invalid(journal.InvalidNoBenchmark, "%v", err)
	}
	return results, lost, nil
}

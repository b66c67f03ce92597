package trial

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/trial/foreign"
	"github.com/procfit/procfit/internal/program/gobench"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// The units of a batch program's throughput, where it is not a metric.
const (
	ThroughputRuns       = "runs"
	ThroughputOperations = "operations" // of Go benchmarks
)

// addRuns adds a batch program's runs, that many in so much time.
func addRuns(t *journal.Trial, n int, wall time.Duration) {
	p := journal.Phase{Mode: journal.ModeBatch, DurationSeconds: wall.Seconds(), AchievedPerSecond: float64(n) / wall.Seconds(), Requests: int64(n)}
	t.Phases = append(t.Phases, p)
	t.ThroughputPerSecond, t.ThroughputUnit = &p.AchievedPerSecond, ThroughputRuns
}

// Metrics adds figures that were printed.
func Metrics(t *journal.Trial, found map[string]load.Value) {
	for name, v := range found {
		if t.Metrics == nil {
			t.Metrics = map[string]journal.Metric{}
		}
		t.Metrics[name] = journal.Metric{Value: v.Value, Unit: v.Unit, Better: v.Better}
	}
}

// judgeMetric makes one metric the throughput of a batch program: the one of that
// name, else the first. If less of it is better, it is judged by its reciprocal. One
// that cannot be compared as a ratio makes the trial invalid: judged by anything
// else, it would be compared with figures of another unit.
func judgeMetric(t *journal.Trial, metrics []load.Metric, found map[string]load.Value) error {
	name := metrics[0].Name
	if _, ok := found["throughput"]; ok {
		name = "throughput"
	}
	v := found[name]
	if err := v.CheckRatio(name); err != nil {
		return Invalid(journal.InvalidMetric, "%v", err)
	}
	value := v.Value
	t.ThroughputUnit = name
	if v.Better == load.BetterLower {
		value, t.ThroughputUnit = 1/value, "1/"+name
	}
	t.ThroughputPerSecond = &value
	return nil
}

// addBenchmarks adds Go benchmark lines, of one run or of several. The throughput is operations a second, the
// geometric mean over the benchmarks, so that none outweighs the others. A program
// that does not have to print one may print none of time: it is judged by its runs per
// second. lost are the benchmarks that have started and have no result.
func addBenchmarks(t *journal.Trial, results []gobench.Result, lost []string, required bool) error {
	lost = slices.Compact(slices.Sorted(slices.Values(lost)))
	found, runs := map[string]load.Value{}, map[string]float64{}
	var logs, n float64
	for _, b := range results {
		for unit, v := range b.Values {
			better := load.BetterLower
			if strings.HasSuffix(unit, "/s") {
				better = load.BetterHigher
			}
			name := b.Name + " " + unit
			runs[name]++
			before := found[name].Value // the mean of the runs before; 0 of none
			found[name] = load.Value{Value: before + (v-before)/runs[name], Unit: unit, Better: better}
		}
		if ns := b.Values["ns/op"]; ns > 0 {
			logs += math.Log(1e9 / ns)
			n++
		}
	}
	Metrics(t, found)
	if len(lost) > 0 {
		warn(t, journal.Warning{Code: journal.WarnNoResult, Count: int64(len(lost)), Detail: strings.Join(lost, ", ")})
	}
	switch {
	case len(lost) > 0 && (n == 0 && required || len(results) == 0):
		return Invalid(journal.InvalidNoBenchmark, "no result can be found of %s, which started: let the code under test print less", phrase.And(lost))
	case n > 0:
		t.ThroughputPerSecond, t.ThroughputUnit = new(math.Exp(logs/n)), ThroughputOperations
	case required || len(results) == 0:
		return Invalid(journal.InvalidNoBenchmark, "no benchmark ran; check that -bench matches one")
	}
	return nil
}

func mean(runs []map[string]load.Value) map[string]load.Value {
	mean := map[string]load.Value{}
	for i, run := range runs {
		for name, v := range run {
			if before, ok := mean[name]; ok {
				v.Value = before.Value + (v.Value-before.Value)/float64(i+1)
			}
			mean[name] = v
		}
	}
	return mean
}

// Quoted is a Failure with what the program said itself.
func Quoted(err error, words fmt.Stringer) error {
	f, ok := err.(*Failure)
	if !ok {
		return err
	}
	return &Failure{f.Code, f.Reason + "; " + words.String()}
}

// External adds what an external generator printed. It is open loop where the command
// was told the rate; its latency is judged where its clock allows that.
func External(t *journal.Trial, r *foreign.Report, wall time.Duration, rate *float64, usage *journal.Usage) error {
	var p journal.Phase
	switch o := r.Offered; {
	case o != nil:
		p, t.Load = o.Phase, &o.Load
		if p.Mode == journal.ModeOpen {
			rate = p.RatePerSecond // which it knows better than the command that asked for it
		}
	case r.Get("throughput") == nil:
		return Invalid(journal.InvalidLoadOutput, "procfit found no throughput in the output of the load command (it reads the output of %s); name it with --metric 'throughput=REGEXP'", foreign.Names())
	default:
		p = printedPhase(r.Figures, wall)
	}
	p.Usage, p.Generator, p.LatencyFrom = usage, string(r.Generator), string(r.Clock)
	if rate != nil {
		p.Mode, p.RatePerSecond = journal.ModeOpen, rate
		t.Saturated = p.AchievedPerSecond < Carried**rate
		switch {
		case p.LatencySeconds == nil:
		case r.Clock.Judged():
			t.LatencySeconds = p.LatencySeconds
			printed := map[float64]*float64{0.9: p.LatencySeconds.P90, 0.5: p.LatencySeconds.P50}
			judge(t, &p, p.Requests+p.Unanswered, func(quantile float64) *float64 { return printed[quantile] })
		default:
			p.Judged, p.UnjudgedReason = new(false), journal.UnjudgedClock
			warn(t, journal.Warning{Code: journal.WarnLatencyClock, Detail: string(r.Generator)})
		}
	}
	if usage != nil {
		t.Usage = *usage
	}
	t.Phases = append(t.Phases, p)
	t.ThroughputPerSecond, t.ThroughputUnit = &p.AchievedPerSecond, ThroughputRequests
	return nil
}

func printedPhase(f foreign.Figures, wall time.Duration) journal.Phase {
	p := journal.Phase{Mode: journal.ModeClosed, DurationSeconds: wall.Seconds(), AchievedPerSecond: f["throughput"], Errors: int64(f["errors"])}
	p.Requests = max(1, int64(p.AchievedPerSecond*wall.Seconds())) // it gave a throughput, so some were
	if n := f.Get("requests"); n != nil {
		p.Requests = int64(*n)
	}
	if l := (journal.Latency{P50: f.Get("p50"), P90: f.Get("p90"), P99: f.Get("p99"), P999: f.Get("p99.9"), Max: f.Get("max"), Mean: f.Get("mean")}); l.P50 != nil || l.P99 != nil || l.Mean != nil {
		p.LatencySeconds = &l
	}
	return p
}

package lab

import (
	"strings"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Figure is what to take of a trial: one of those below, or the name of a metric
// that the program printed: "Chain ns/op".
type Figure string

const (
	Throughput Figure = ""     // a second; of benchmark lines operations, their geometric mean
	Cost       Figure = "cost" // 1 ÷ throughput

	// Latencies, of the open loop where there was one, else of the closed loop.
	P50        Figure = "p50"
	P99        Figure = "p99"
	P999       Figure = "p999"
	Mean       Figure = "mean"
	Max        Figure = "max"
	ClosedP50  Figure = "closed p50" // of the closed loop, as wrk's
	ClosedP99  Figure = "closed p99"
	ClosedMean Figure = "closed mean"
	ClosedMax  Figure = "closed max"

	// What the kernel counted, over all replicas.
	CPUs     Figure = "cpus"     // CPU seconds a second
	Switches Figure = "switches" // context switches a second
	Wait     Figure = "wait"     // seconds waited for a CPU a second, throttling included
	Throttle Figure = "throttle" // share of the quota's periods that were throttled
	Threads  Figure = "threads"  // most OS threads

	Procs Figure = "procs" // GOMAXPROCS as read from the program's memory
)

// value is nil where the trial does not have it.
func (f Figure) value(t *journal.Trial) *float64 {
	switch f {
	case Throughput:
		return t.ThroughputPerSecond
	case Cost:
		if t.ThroughputPerSecond == nil {
			return nil
		}
		return new(1 / *t.ThroughputPerSecond)
	case P50, P99, P999, Mean, Max:
		l := t.LatencySeconds
		if l == nil {
			l = closed(t)
		}
		return f.latency(l)
	case ClosedP50, ClosedP99, ClosedMean, ClosedMax:
		return Figure(strings.TrimPrefix(string(f), "closed ")).latency(closed(t))
	case CPUs, Switches, Wait, Throttle, Threads, Procs:
		return f.counted(t)
	}
	if m, ok := t.Metrics[string(f)]; ok {
		return &m.Value
	}
	return nil
}

func closed(t *journal.Trial) *journal.Latency {
	for i := range t.Phases {
		if t.Phases[i].Mode == journal.ModeClosed {
			return t.Phases[i].LatencySeconds
		}
	}
	return nil
}

func (f Figure) latency(l *journal.Latency) *float64 {
	if l == nil {
		return nil
	}
	switch f {
	case P50:
		return l.P50
	case P99:
		return l.P99
	case P999:
		return l.P999
	case Mean:
		return l.Mean
	}
	return l.Max
}

func (f Figure) counted(t *journal.Trial) *float64 {
	rate := func(x float64) *float64 {
		if t.MeasuredSeconds <= 0 {
			return nil
		}
		return new(x / t.MeasuredSeconds)
	}
	switch {
	case f == CPUs && t.CPUSeconds != nil:
		return rate(t.CPUSeconds.User + t.CPUSeconds.System)
	case f == Switches && t.ContextSwitches != nil:
		return rate(float64(t.ContextSwitches.Voluntary + t.ContextSwitches.Involuntary))
	case f == Wait && t.RunQueueWaitSeconds != nil:
		return rate(*t.RunQueueWaitSeconds)
	case f == Throttle && t.Cgroup != nil && t.Cgroup.Periods > 0:
		return new(float64(t.Cgroup.ThrottledPeriods) / float64(t.Cgroup.Periods))
	case f == Threads && t.ThreadsMax != nil:
		return new(float64(*t.ThreadsMax))
	case f == Procs && len(t.ObservedProcs) > 0 && t.ObservedProcs[0] != nil:
		return new(float64(*t.ObservedProcs[0]))
	}
	return nil
}

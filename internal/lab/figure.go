package lab

import (
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
	P999       Figure = "p999"
	ClosedP99  Figure = "closed p99" // of the closed loop, as wrk's
	ClosedMean Figure = "closed mean"
	ClosedMax  Figure = "closed max"

	// What the kernel counted, over all replicas.
	CPUs     Figure = "cpus"     // CPU seconds a second
	Switches Figure = "switches" // context switches per second
	Wait     Figure = "wait"     // seconds waited for a CPU a second, throttling included
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
	case P50, P999:
		l := t.LatencySeconds
		if l == nil {
			l = closed(t)
		}
		return f.latency(l)
	case ClosedP99, ClosedMean, ClosedMax:
		return f.latency(closed(t))
	case CPUs, Switches, Wait:
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
	case ClosedP99:
		return l.P99
	case P999:
		return l.P999
	case ClosedMean:
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
	}
	return nil
}

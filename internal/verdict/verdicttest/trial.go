package verdicttest

import (
	"cmp"
	"math"

	"github.com/procfit/procfit/internal/verdict/journal"
)

func trial(c Config, s slot, f factors) journal.Trial {
	a := s.truth.Setting
	t := journal.Trial{
		Kind:              journal.KindTrial,
		Setting:           a,
		Role:              s.role,
		Origin:            journal.OriginLocal,
		DurationSeconds:   trialSeconds,
		Valid:             true,
		ObservedSource:    "symbol",
		ObservedGoVersion: "go1.26.0",
		Usage:             journal.Usage{MeasuredSeconds: measuredSeconds},
		Warnings:          []journal.Warning{},
	}
	for range max(a.Replicas, 1) {
		resolved := s.truth.Resolved
		t.ObservedProcs = append(t.ObservedProcs, &resolved)
	}
	throughput := s.truth.Throughput * f.throughput
	t.ThroughputPerSecond = &throughput
	load(&t, c, s, f, throughput)
	counters(&t, c, s)
	return t
}

func load(t *journal.Trial, c Config, s slot, f factors, throughput float64) {
	if c.Mode == journal.ModeBatch {
		t.ThroughputUnit = "runs"
		t.Phases = []journal.Phase{{Mode: journal.ModeBatch, DurationSeconds: measuredSeconds, AchievedPerSecond: throughput, Requests: 1}}
		return
	}
	t.ThroughputUnit = "requests"
	connections := 64.0
	mean := connections / throughput // Little's law: in closed loop latency restates throughput
	t.Phases = []journal.Phase{{
		Mode: journal.ModeClosed, DurationSeconds: measuredSeconds, AchievedPerSecond: throughput,
		Requests: int64(throughput * measuredSeconds), LatencySeconds: latency(mean, 4*mean),
	}}
	if c.Mode != journal.ModeOpen {
		return
	}
	achieved := math.Min(s.rate, throughput)
	t.Saturated = achieved < 0.99*s.rate
	p50, p99 := s.truth.P50*f.p50, s.truth.P99*f.p99
	if t.Saturated { // the backlog grows as long as the phase lasts
		p50, p99 = measuredSeconds/2, measuredSeconds
	}
	t.LatencySeconds = latency(min(p50, p99), p99)
	seconds := cmp.Or(c.OpenSeconds, openSeconds(t.Setting, s.rate))
	t.Phases = append(t.Phases, journal.Phase{
		Mode: journal.ModeOpen, RatePerSecond: &s.rate, DurationSeconds: seconds, AchievedPerSecond: achieved,
		Requests: int64(achieved * seconds), LatencySeconds: t.LatencySeconds,
	})
}

// openSeconds is how long an open loop takes whose p99 may be judged.
func openSeconds(a journal.Setting, rate float64) float64 {
	seconds := math.Max(measuredSeconds, 5100/rate)
	if a.QuotaCPUs != nil {
		seconds = math.Max(seconds, 10.2)
	}
	return seconds
}

func latency(p50, p99 float64) *journal.Latency {
	p90, p999, most, mean := p50+(p99-p50)/2, p99*1.5, p99*2, p50*1.1
	return &journal.Latency{P50: &p50, P90: &p90, P99: &p99, P999: &p999, Max: &most, Mean: &mean}
}

func counters(t *journal.Trial, c Config, s slot) {
	cpus := float64(c.CPUs)
	replicas := float64(max(t.Setting.Replicas, 1))
	if t.Setting.QuotaCPUs != nil {
		cpus = math.Min(cpus, *t.Setting.QuotaCPUs)
		periods := int64(measuredSeconds / 0.1 * replicas)
		throttled := math.Round(s.truth.Throttled * float64(periods))
		t.Cgroup = &journal.Cgroup{Periods: periods, ThrottledPeriods: int64(throttled), ThrottledSeconds: throttled * 0.05}
	}
	ps := float64(s.truth.Resolved)
	left := float64(c.CPUs) - c.OtherCPUs
	used := math.Min(left, cmp.Or(s.truth.CPU, 0.95)*math.Min(ps, cpus)*replicas) * measuredSeconds
	over := math.Max(0, ps-cpus)
	wait := 0.1 * over * measuredSeconds
	threads := s.truth.Resolved + 5
	lag := 0.00006
	t.CPUSeconds = &journal.CPUSeconds{User: 0.8 * used, System: 0.2 * used}
	t.ContextSwitches = &journal.ContextSwitches{
		Voluntary:   int64(500 * ps * measuredSeconds),
		Involuntary: int64((50 + 400*over) * measuredSeconds),
	}
	t.RunQueueWaitSeconds = &wait
	t.ThreadsMax = &threads
	others := c.OtherCPUs * measuredSeconds
	t.HostUse = &journal.HostUse{OtherCPUSeconds: &others, TargetCPUs: c.CPUs, BusyRatio: math.Min(1, used/measuredSeconds/float64(c.CPUs))}
	if c.Mode != journal.ModeBatch {
		t.Load = &journal.LoadCost{CPUSeconds: 0.3 * measuredSeconds}
	}
	if c.Mode == journal.ModeOpen {
		t.Load.SendLagP99Seconds = &lag
	}
}

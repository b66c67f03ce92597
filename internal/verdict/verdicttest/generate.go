package verdicttest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// started is when every generated run began; a fixed day keeps goldens stable.
var started = time.Date(2026, time.March, 14, 9, 0, 0, 0, time.UTC)

const (
	measuredSeconds = 3.0
	trialSeconds    = 4.0
)

// Generate makes the journal of the sweep.
func Generate(c Config) (journal.Header, []journal.Trial) {
	c = withDefaults(c)
	h := header(c)
	r := rand.New(rand.NewPCG(c.Seed, 0x9e3779b97f4a7c15))
	var trials []journal.Trial
	perBlock := len(h.Plan.Settings) + len(h.Plan.AA)
	step := c.Noise.Drift / math.Sqrt(float64(c.Blocks*perBlock))
	walk := 0.0
	for block := range c.Blocks {
		slots := slotsOf(c, h.Plan)
		r.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
		for order, s := range slots {
			walk += step * r.NormFloat64()
			t := trial(c, s, draw(r, c.Noise, walk))
			t.Block, t.Order = block, order
			t.Started = started.Add(time.Duration(len(trials)) * trialSeconds * time.Second)
			t.Log = fmt.Sprintf("logs/%03d.log", len(trials))
			if c.Trial != nil {
				c.Trial(&t)
			}
			trials = append(trials, t)
		}
	}
	return h, trials
}

type slot struct {
	truth Truth
	role  journal.Role
	rate  float64
}

func slotsOf(c Config, p journal.Plan) []slot {
	rates := map[journal.GroupKey]float64{}
	var slots []slot
	for _, t := range c.Settings {
		g := t.Setting.Group()
		if _, seen := rates[g]; !seen {
			rates[g] = t.Throughput / 2
			if c.Rate > 0 {
				rates[g] = c.Rate
			}
		}
		slots = append(slots, slot{t, journal.RoleMeasure, rates[g]})
		for _, a := range p.AA {
			if a.Label == t.Setting.Label && a.Group() == g {
				slots = append(slots, slot{t, journal.RoleAA, rates[g]})
			}
		}
	}
	return slots
}

// factors are what one trial's noise multiplies throughput and p99 by.
type factors struct{ throughput, p50, p99 float64 }

func draw(r *rand.Rand, n *Noise, walk float64) factors {
	sd := func(cv float64) float64 { return math.Sqrt(math.Log1p(cv * cv)) }
	f := factors{
		throughput: math.Exp(walk + sd(n.Trial)*r.NormFloat64()),
		p50:        math.Exp(-walk + sd(n.P99/4)*r.NormFloat64()),
		p99:        math.Exp(-walk + sd(n.P99)*r.NormFloat64()),
	}
	if hit, size := r.Float64() < n.Outliers, r.Float64(); hit {
		f.throughput *= 0.9 - 0.3*size
		f.p50 *= 1 + size/2
		f.p99 *= 2 + 2*size
	}
	return f
}

func withDefaults(c Config) Config {
	c.Blocks = cmp.Or(c.Blocks, 6)
	c.CPUs = cmp.Or(c.CPUs, 8)
	c.Mode = cmp.Or(c.Mode, journal.ModeOpen)
	if c.Noise == nil {
		c.Noise = Realistic()
	}
	return c
}

func header(c Config) journal.Header {
	h := journal.Header{
		Schema:  journal.Schema,
		Kind:    journal.KindHeader,
		Name:    "generated",
		Started: started,
		TargetHost: journal.Host{
			Hostname: "generated", OS: "linux", Arch: "amd64", CPUModel: "Generated CPU",
			CPUs: c.CPUs, AffinityCPUs: c.CPUs, EffectiveCPUs: float64(c.CPUs),
			Kernel: "6.12.0", CgroupMode: "v2", MemoryBytes: 16 << 30,
		},
		Spec:   spec.Spec{Command: "sweep", Program: []string{"./server", "-addr", ":{port}"}},
		Tool:   journal.Tool{Version: "devel", GoVersion: "go1.26.0"},
		Target: journal.Target{Kind: "server", Command: []string{"./server", "-addr", ":{port}"}, URL: "http://127.0.0.1:{port}/", GoVersion: "go1.26.0"},
		Load: journal.Load{
			Connections: 64, Method: "GET", ErrorRatioMax: 0.01,
			DurationSeconds: measuredSeconds, WarmupSeconds: 0.5, ReadyTimeoutSeconds: 10,
		},
		Plan: journal.Plan{
			Blocks: c.Blocks, Seed: c.Seed, Margin: 0.05, MarginP99: 0.20,
			SmallestFor: c.SmallFor, GateAgainst: c.Gate,
		},
	}
	if c.Rate > 0 {
		h.Load.RatePerSecond = &c.Rate
	}
	if c.Mode == journal.ModeBatch {
		h.Target.Kind, h.Target.URL, h.Load.Connections = "batch", "", 0
	}
	seen := map[journal.GroupKey]bool{}
	for _, t := range c.Settings {
		h.Plan.Settings = append(h.Plan.Settings, t.Setting)
		if t.Setting.Variant != "" {
			h.Target.Against = []string{"./old-server", "-addr", ":{port}"}
		} else if g := t.Setting.Group(); !c.NoAA && !seen[g] {
			seen[g] = true
			h.Plan.AA = append(h.Plan.AA, t.Setting)
		}
	}
	return h
}

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

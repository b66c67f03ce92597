package verdicttest

import (
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// World is what a program does with a GOMAXPROCS and variables: its throughput, and the
// memory at its peak.
type World func(procs int, value map[string]string) (perSecond float64, bytes int64)

// Varied is the header of a race over a default of 4, GOMAXPROCS 1 to 4 and variables.
func Varied(axes ...journal.Axis) journal.Header {
	h := journal.Header{
		Schema: journal.Schema, Kind: journal.KindHeader, Name: "varied", Started: started,
		TargetHost: journal.Host{CPUModel: "test", CPUs: 4, AffinityCPUs: 4, EffectiveCPUs: 4},
		Spec:       spec.Spec{Command: "sweep", Program: []string{"./batch"}}.With(spec.Set("vary", "GOGC=50,100")),
		Tool:       journal.Tool{Version: "0", GoVersion: "go1.26"},
		Target:     journal.Target{Kind: journal.KindBatch, Command: []string{"./batch"}},
		Plan: journal.Plan{
			Strategy: journal.StrategyRace, Goal: journal.GoalProven, MaxTrials: 400, Margin: 0.05, MarginP99: 0.2, Vary: axes,
		},
	}
	for n := range 5 {
		a := journal.Setting{Label: journal.Default, Replicas: 1, Variables: h.Plan.Start()}
		if n > 0 {
			a.Label, a.Procs = strconv.Itoa(n), new(n)
		}
		h.Plan.Settings = append(h.Plan.Settings, a)
	}
	return h
}

// Race runs what the searches of a header ask for, up to that many trials.
func Race(h journal.Header, w World, seed uint64, most int) (trials []journal.Trial) {
	r := rand.New(rand.NewPCG(seed, 1))
	for block := 0; ; block++ {
		s := contest.Count(h, trials).Searches()[0]
		if s.Done || len(trials) >= most {
			return trials
		}
		step := s.Contests[len(s.Contests)-1].Next()
		if step.Stop != "" {
			return trials
		}
		for order, a := range step.Settings {
			trials = append(trials, w.trial(a, block, order, r))
		}
	}
}

// trial is one of a setting, a second long, that strays by 1%.
func (w World) trial(a journal.Setting, block, order int, r *rand.Rand) journal.Trial {
	value := map[string]string{}
	for _, v := range a.Variables {
		value[v.Name] = v.Value
	}
	procs := 4
	if a.Procs != nil {
		procs = *a.Procs
	}
	throughput, bytes := w(procs, value)
	one := journal.Trial{
		Kind: journal.KindTrial, Setting: a, Role: journal.RoleMeasure, Origin: journal.OriginLocal, Valid: true, Block: block, Order: order,
		Started: started.Add(time.Duration(10*block+order) * time.Second), DurationSeconds: 1, ObservedProcs: []*int{&procs}, ObservedSource: "symbol", ThroughputUnit: "runs",
	}
	one.ThroughputPerSecond = new(throughput * math.Exp(0.01*r.NormFloat64()))
	one.MeasuredSeconds, one.HostUse = 1, &journal.HostUse{TargetCPUs: 4, OtherCPUSeconds: new(0.0)}
	if bytes > 0 { // else it was not read
		one.Memory = &journal.Memory{PeakRSSBytes: bytes}
	}
	return one
}

// Sliced is a sweep of a server by GOMAXPROCS 1 to 4, with a default of 4, that slices of one
// start begin. live is what the program does in these, and fresh in starts of its own.
func Sliced(live, fresh World, seed uint64) (h journal.Header, trials, slices []journal.Trial) {
	h = Varied()
	h.Target.Kind, h.Plan.Slices = journal.KindServer, true
	r := rand.New(rand.NewPCG(seed, 2))
	one := func(w World, a journal.Setting, block, order int) journal.Trial {
		t := w.trial(a, block, order, r)
		t.ThroughputUnit = "requests"
		return t
	}
	pilot := one(fresh, h.Plan.Settings[0], 0, 0)
	pilot.Role = journal.RolePilot
	trials = append(trials, pilot)
	for block := 0; ; block++ {
		c := contest.Count(h, trials, slices...).Contests()[0]
		values := c.NextSlices()
		for order, n := range values {
			t := one(live, h.Plan.Settings[n], block, order)
			t.Role, t.Start, t.DurationSeconds = journal.RoleSlice, new(0), 0.3
			slices = append(slices, t)
		}
		if values == nil {
			break
		}
	}
	for block := 0; ; block++ {
		step := contest.Count(h, trials, slices...).Contests()[0].Next()
		for order, a := range step.Settings {
			trials = append(trials, one(fresh, a, block, order))
		}
		if step.Stop != "" {
			return h, trials, slices
		}
	}
}

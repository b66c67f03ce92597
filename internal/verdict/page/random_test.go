package page_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// randomResult is a sweep of anything: of some curve, noise, quota, rate and arrangement of
// the load, balanced or not, with trials that fail, that are late, or too short.
func randomResult(r *rand.Rand) *verdict.Result {
	cpus := []int{1, 2, 4, 8}[r.IntN(4)]
	values := pick(r, []int{1, 2, 3, 4, 6, 8, 12, 16})
	resolved := cpus
	if r.IntN(4) == 0 {
		resolved = values[r.IntN(len(values))]
	}
	at := curve(r, float64(cpus))
	var settings []verdicttest.Truth
	if r.IntN(8) > 0 {
		rate, p99 := at(resolved)
		settings = append(settings, verdicttest.Unset(resolved, rate, p99))
	}
	for _, v := range values {
		rate, p99 := at(v)
		if r.IntN(12) == 0 { // unlike its copy, if it has one
			rate *= 0.8
		}
		settings = append(settings, verdicttest.Set(v, rate, p99))
	}
	if r.IntN(3) == 0 {
		settings = verdicttest.Quota(float64(cpus)/[]float64{1, 2, 4}[r.IntN(3)], settings...)
		for i := range settings {
			settings[i].Throttled = math.Max(0, 1-float64(cpus)/float64(settings[i].Resolved))
		}
	}
	c := verdicttest.Config{Seed: r.Uint64(), CPUs: cpus, Settings: settings, Blocks: 1 + r.IntN(9), Noise: noise(r), NoAA: r.IntN(2) == 0, SmallFor: r.IntN(10) == 0}
	if r.IntN(5) == 0 {
		c.Mode = journal.ModeClosed
	}
	if r.IntN(4) == 0 {
		c.OpenSeconds = 0.2 + 3*r.Float64()
	}
	if r.IntN(3) == 0 || c.SmallFor {
		c.Rate = settings[r.IntN(len(settings))].Throughput * (0.5 + 0.6*r.Float64())
	}
	if r.IntN(10) == 0 {
		c.OtherCPUs = 0.7 * float64(cpus)
	}
	c.Trial = costed(c.Seed, mishaps(r))
	shared, thin, any := r.IntN(3) == 0, r.IntN(3) == 0, r.IntN(6) == 0
	return pagetest.Analyze("random", c, func(h *journal.Header, trials []journal.Trial) []journal.Trial {
		if shared {
			h.Load.Arrangement, h.Target.CPUs, h.Load.CPUs = new(journal.ArrangementShared), nil, nil
		}
		h.Target.AnyProgram = any
		if thin { // as a race leaves them
			trials = slices.DeleteFunc(trials, func(t journal.Trial) bool { return t.Block > 0 && r.IntN(2) == 0 })
		}
		return trials
	})
}

func pick(r *rand.Rand, from []int) []int {
	n := 1 + r.IntN(6)
	list := slices.Clone(from)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list = list[:n]
	slices.Sort(list)
	return list
}

// curve is throughput and p99 by the number of Ps.
func curve(r *rand.Rand, cpus float64) func(int) (rate, p99 float64) {
	knee := 1 + r.Float64()*2*cpus
	kind, top := r.IntN(6), 100*math.Pow(100, r.Float64())
	return func(procs int) (float64, float64) {
		n := float64(procs)
		up := math.Min(n, knee) / knee
		over := math.Max(0, n-knee) / knee
		switch kind {
		case 0:
			return top, 0.01
		case 1:
			return top, 0.01 * math.Pow(1.5, math.Log2(n))
		case 2:
			return top * math.Tanh(1.5*n/knee), 0.01 / up
		case 3:
			return top * up / (1 + 0.64*over), 0.01 * (1 + 2*over) / up
		case 4: // more throughput at the price of latency
			return top * (0.85 + 0.15*up), 0.004 * (1 + 8*up)
		}
		return top * up, 0.01 / up
	}
}

func noise(r *rand.Rand) *verdicttest.Noise {
	return []*verdicttest.Noise{
		{Trial: 0.004, P99: 0.02}, {Trial: 0.01, P99: 0.08, Drift: 0.05}, {Trial: 0.03, P99: 0.25, Drift: 0.08, Outliers: 0.02},
		{Trial: 0.03, P99: 0.6}, {Trial: 0.15, P99: 0.4}, {Trial: 0.6, P99: 1.5},
	}[r.IntN(6)]
}

// costed gives open loops the CPU time of a request, which may grow with the Ps.
func costed(seed uint64, then func(*journal.Trial)) func(*journal.Trial) {
	r := rand.New(rand.NewPCG(seed, 1)) // of its own: what is drawn elsewhere does not depend on it
	growth, strays := 0.2*r.Float64(), 0.3*r.Float64()
	return func(t *journal.Trial) {
		for i := range t.Phases {
			if p := &t.Phases[i]; p.Mode == journal.ModeOpen && t.ObservedProcs[0] != nil {
				each := 1e-3 * math.Pow(float64(*t.ObservedProcs[0]), growth) * math.Exp(strays*r.NormFloat64())
				p.Usage = &journal.Usage{MeasuredSeconds: p.DurationSeconds, CPUSeconds: &journal.CPUSeconds{User: each * p.AchievedPerSecond * p.DurationSeconds}}
			}
		}
		then(t)
	}
}

// mishaps spoil some trials.
func mishaps(r *rand.Rand) func(*journal.Trial) {
	share := []float64{0, 0, 0.1, 0.4, 1}[r.IntN(5)]
	kind := r.IntN(8)
	return func(t *journal.Trial) {
		if r.Float64() >= share {
			return
		}
		switch kind {
		case 0:
			t.Valid, t.InvalidCode, t.InvalidReason = false, journal.InvalidCrashed, "it crashed"
		case 1:
			if t.Load != nil {
				t.Load.SendLagP99Seconds = new(0.02)
			}
		case 2:
			if t.Setting.Procs == nil {
				t.ObservedProcs = []*int{nil}
			}
		case 3:
			t.LatencySeconds = nil
		case 4:
			t.Saturated = true
		case 5:
			t.ObservedProcs = []*int{nil}
		case 6: // too short for other programs to be counted
			t.HostUse.OtherCPUSeconds, t.RunQueueWaitSeconds = nil, new(t.MeasuredSeconds*r.Float64())
		case 7:
			t.HostUse = nil
		}
	}
}

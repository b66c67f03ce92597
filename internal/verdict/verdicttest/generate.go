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
	c.Name = cmp.Or(c.Name, "generated")
	c.Blocks = cmp.Or(c.Blocks, 6)
	c.CPUs = cmp.Or(c.CPUs, 8)
	c.Mode = cmp.Or(c.Mode, journal.ModeOpen)
	c.Margin = cmp.Or(c.Margin, 0.05)
	c.MarginP99 = cmp.Or(c.MarginP99, 0.20)
	if c.Noise == nil {
		c.Noise = Realistic()
	}
	return c
}

func header(c Config) journal.Header {
	h := journal.Header{
		Schema:  journal.Schema,
		Kind:    journal.KindHeader,
		Name:    c.Name,
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
			Blocks: c.Blocks, Seed: c.Seed, Margin: c.Margin, MarginP99: c.MarginP99,
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

package run

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// exponent is how throughput grows with the CPUs.
const exponent = 0.97

// world is a machine whose trials are generated: what scales does so up to its CPUs.
type world struct {
	cpus  float64
	noise func(block, procs int) float64 // a factor; nil: next to none
	takes time.Duration                  // a trial
	ran   int
	// invalidFrom is how many trials are valid; 0: all.
	invalidFrom int
	// others is how many CPUs other programs use.
	others float64
	// check and prepare fail by the name of the session, and before does before a trial.
	check, prepare map[string]error
	before         func(name string) error
	secrets        *secret.Keeper
}

// Speed and Others are those of a machine whose speed is not known.
func (w *world) Speed(context.Context) float64 { return 0 }
func (w *world) Others(context.Context) plan.Others {
	return plan.Others{CPUs: w.others, OfCPUs: w.cpus}
}

func (w *world) machine() Machine {
	return Machine{
		Check: func(s plan.Spec, _ bool) error { return w.check[s.Name] },
		Runner: func(s *session.Session, _ map[string]local.Program) (plan.Runner, error) {
			return &generated{w, s.Spec}, nil
		},
	}
}

func (w *world) host() journal.Host {
	return journal.Host{Hostname: "many", CPUModel: "a model", CPUs: int(w.cpus), AffinityCPUs: int(w.cpus), EffectiveCPUs: w.cpus, Kernel: "6.18.0"}
}

// planOf is a run of experiments with that many blocks.
func (w *world) plan(dir string, chosen lab.Options, list ...lab.Experiment) *Run {
	for i := range list {
		list[i].Trace = "" // there is no program to look at
	}
	r := New(Options{
		Experiments: list, Chosen: chosen, Seed: new(uint64(3)), Dir: dir, Self: "/bin/procfit", Tool: journal.Tool{GoVersion: "go1.26.8"}, Spec: spec.Spec{Command: "lab run"}, Secrets: w.secrets,
		Host: w.host(), Machine: w.machine(), Pages: pages, Now: func() time.Time { return time.Unix(1, 0) }, Fixed: true,
	})
	for _, x := range r.items {
		for _, s := range x.stages {
			s.GoVersions = nil // there is nothing to compile
			for i, v := range s.ran.Versions {
				s.ran.Versions[i].Full = "go" + v.Asked
			}
		}
	}
	return r
}

// generated answers tasks with figures of the setting.
type generated struct {
	*world
	spec plan.Spec
}

func (g *generated) Prepare(context.Context, journal.Plan, plan.Observer) error {
	return g.prepare[g.spec.Name]
}

func (g *generated) Close() error { return nil }

func (g *generated) Run(_ context.Context, t plan.Task, _ plan.Observer) (journal.Trial, error) {
	if g.before != nil {
		if err := g.before(g.spec.Name); err != nil {
			return journal.Trial{}, err
		}
	}
	if g.ran++; g.takes > 0 {
		time.Sleep(g.takes) // of a clock of synctest
	}
	p, cpus := int(g.cpus), g.cpus
	if n := len(g.spec.TargetCPUs()); n > 0 {
		p, cpus = n, float64(n)
	}
	if t.Setting.Procs != nil {
		p = *t.Setting.Procs
	}
	if q := t.Setting.QuotaCPUs; q != nil {
		cpus = math.Min(cpus, *q)
	}
	n := 1 + 0.001*math.Sin(float64(7*t.Block+p))
	if g.noise != nil {
		n = g.noise(t.Block, p)
	}
	// Ps beyond the CPUs cost a little, and each P waits.
	scale := n * math.Pow(math.Min(float64(p), cpus), exponent) / (1 + 0.002*float64(p))
	slow := n * 0.03 / scale * (1 + 0.01*float64(p))
	latency := &journal.Latency{P50: &slow, P90: &slow, P99: &slow, P999: &slow, Max: &slow, Mean: &slow}
	trial := journal.Trial{
		Origin: journal.OriginLocal, Valid: true, ThroughputPerSecond: new(1000 * scale), ThroughputUnit: "operations",
		Usage: journal.Usage{
			MeasuredSeconds: 1, CPUSeconds: &journal.CPUSeconds{User: 0.97 * n * math.Min(float64(p), cpus)},
			ContextSwitches: &journal.ContextSwitches{Voluntary: int64(100 * p)}, RunQueueWaitSeconds: new(0.01 * float64(p)), ThreadsMax: new(4 + p),
		},
		Metrics: map[string]journal.Metric{},
	}
	if g.spec.Target.Kind() == journal.KindServer {
		trial.ThroughputUnit, trial.LatencySeconds = "requests", latency
		trial.Phases = []journal.Phase{{Mode: journal.ModeClosed, AchievedPerSecond: 1000 * scale, LatencySeconds: latency}}
	}
	if rate := t.RatePerSecond; rate != nil && len(trial.Phases) > 0 { // idle Ps cost a little
		each := 1e-5 * n * (1 + 0.05*float64(p))
		trial.Phases = append(trial.Phases, journal.Phase{Mode: journal.ModeOpen, RatePerSecond: rate, AchievedPerSecond: *rate, LatencySeconds: latency,
			Usage: &journal.Usage{MeasuredSeconds: 1, CPUSeconds: &journal.CPUSeconds{User: *rate * each}}})
	}
	if g.spec.Target.Beside != nil {
		trial.BesideCPUSeconds = new(trial.CPUSeconds.User / 3)
	}
	for name, value := range figures(p, scale, n) {
		trial.Metrics[name] = journal.Metric{Value: value}
	}
	if trial.DurationSeconds = g.takes.Seconds(); g.invalidFrom > 0 && g.ran > g.invalidFrom {
		trial.Valid, trial.InvalidCode, trial.InvalidReason = false, journal.InvalidCrashed, "it crashed"
	}
	if g.others > 0 {
		trial.HostUse = &journal.HostUse{TargetCPUs: int(g.cpus), OtherCPUSeconds: new(g.others)}
	}
	trial.Metrics["gomaxprocs"] = journal.Metric{Value: g.chosen(t.Setting)}
	trial.Metrics["numcpu"] = journal.Metric{Value: g.cpus}
	return trial, nil
}

// chosen is what a Go release chooses by itself.
func (g *generated) chosen(a journal.Setting) float64 {
	old := slices.Contains([]string{"1.2", "1.4"}, a.GoVersion)
	seen := slices.Contains([]string{"", "1.25", "1.26"}, a.GoVersion) && !strings.HasSuffix(g.spec.Name, " language")
	switch {
	case old:
		return 1
	case seen && a.QuotaCPUs != nil:
		return math.Min(g.cpus, math.Max(2, math.Ceil(*a.QuotaCPUs)))
	}
	return g.cpus
}

// figures are what the programs print, whichever of them runs: times fall as fast as
// throughput rises.
func figures(p int, scale, n float64) map[string]float64 {
	m := map[string]float64{
		"sums": 1000 * scale, "sleeps": 9700 * n, "rounds": 1000 * scale, "threads_max": float64(4 + p),
		"Contention/alone ns/op": 5 * n, "Contention/contended ns/op": 10 * float64(p) * n, "Contention/switching ns/op": 100 * n,
		"Stealing jain-index": 0.98 * n, "running": float64(p), "crowd_ns": 1e9 / scale, "idle_procs": 4, "idle_threads": 2, "spread_idle_procs": 0,
	}
	for _, name := range []string{"CPUBound", "IOBound", "Stealing", "Sieve", "Powser", "Garbage", "HTTP", "JSON", "Busyworker/busy=4/other=10", "Busyworker/busy=16/other=100"} {
		m[name+" ns/op"] = 1e9 / scale
	}
	m["Preempt/turns ns/op"], m["Preempt/turns turns"] = 13e6*n, 1
	m["Handoff/threads ns/op"], m["Handoff/threads sleeps/op"] = 5000*n, 2
	m["Handoff/goroutines ns/op"], m["Handoff/goroutines sleeps/op"] = 200*n, 0.001
	m["Chain ns/op"], m["ChainBuf ns/op"] = 13e3/scale, 13e3/scale
	for _, name := range []string{"Idle/tcp B/conn", "Idle/http B/conn", "Idle/http threads/conn", "Extremes p99-ns", "Extremes memory-B", "Headroom p99-ns", "GC ns/op", "GC gc-cpus", "GC pause-max-ns", "GC settled-cycle", "GC cycle-ns", "Tenants beside-p99-ns", "Tenants alone-p99-ns", "Tenants/quiet p99-ns", "Remedies/mutex ns/op", "Remedies/atomic ns/op", "Remedies/sharded ns/op", "Remedies/batched ns/op"} {
		m[name] = 1e9 / scale * (1 + 0.01*float64(p))
	}
	for _, name := range []string{"Idle/http alone-sums/s", "Idle/http beside-sums/s"} {
		m[name] = 1000 * scale
	}
	return m
}

// told are the experiments whose figures are generated.
var told = []string{
	"cpuserver", "tinyserver", "parallel", "workload", "cpubound", "iobound", "contention", "preempt", "stealing", "schedtrace",
	"chain", "chainbuf", "handoff", "sieve", "powser", "garbage", "http", "json", "threads", "busyworker", "k8sbench", "defaults", "uber",
	"headroom", "idle", "extremes", "gc", "tenants", "remedies", "spin", "requests",
}

// On a machine with CPUs enough the same command answers every hypothesis that needs
// them.
func TestManyCPUs(t *testing.T) {
	t.Parallel() // it waits for the disk, trial by trial
	if testing.Short() {
		t.Skip("measures three thousand trials, each kept in a journal")
	}
	list, beyond := told, 40
	if !need.Required() { // a tenth of them; TestOwnCPUs has one in all its ways
		list, beyond = []string{"cpuserver", "powser", "gc"}, 4
	}
	for _, id := range list {
		e := must.Get(lab.Find(id))(t)
		dir, w := filepath.Join(t.TempDir(), id), &world{cpus: 32}
		must.OK(t, measure(t, w.plan(dir, lab.Options{Repeats: 8}, e)))
		for _, a := range read(t, dir).Experiments[0].Hypotheses {
			if a.Needs > 2 {
				beyond--
			}
			// wrk was not the load.
			if a.Answer != lab.Holds && a.Answer != lab.DoesNotHold && a.ID != "average_fits" || a.From != "" {
				t.Errorf("%s %s: %s (%s), from %q, of %+v", id, a.ID, a.Answer, a.Reason, a.From, a.Measured)
			}
		}
	}
	if beyond > 0 {
		t.Errorf("%d hypotheses too few need more than 2 CPUs", beyond)
	}
}

// A neighbour is a practice program of the same procfit, with CPU shares of its own.
func TestNeighbour(t *testing.T) {
	e := must.Get(lab.Find("requests"))(t)
	for i, s := range (&world{cpus: 8}).plan(t.TempDir(), lab.Options{}, e).items[0].stages {
		target := s.Session.Header.Target
		if target.CPUShares != 2048 || target.Command[3] != "requests" {
			t.Errorf("%s: %+v", s.ID, target)
		}
		switch b := target.Beside; {
		case i == 0 && b != nil, i > 0 && b == nil:
			t.Errorf("%s: next to %+v", s.ID, b)
		case i > 0 && (b.CPUShares != int64(i)*2048 || strings.Join(b.Command, " ") != "/bin/procfit lab program extremes -d 1h"):
			t.Errorf("%s: next to %+v", s.ID, b)
		}
		if again := s.Session.Spec.Target.Beside; again != nil && s.Target.Beside.Command[0] != "extremes" {
			t.Errorf("%s is changed itself: %v", s.ID, s.Target.Beside.Command)
		}
	}
}

// With lists of CPUs the program has those that it was given, and the load its own.
func TestOwnCPUs(t *testing.T) {
	t.Parallel() // it waits for the disk, trial by trial
	e := must.Get(lab.Find("cpuserver"))(t)
	answers := func(cpus float64, chosen lab.Options) map[string]lab.Answered {
		t.Helper()
		dir, w := filepath.Join(t.TempDir(), "out"), &world{cpus: cpus}
		chosen.Repeats = 8
		must.OK(t, measure(t, w.plan(dir, chosen, e)))
		found := map[string]lab.Answered{}
		for _, a := range read(t, dir).Experiments[0].Hypotheses {
			found[a.ID] = a
		}
		return found
	}
	numbered := func(from, to int) (list []int) {
		for i := from; i <= to; i++ {
			list = append(list, i)
		}
		return list
	}
	apart := answers(12, lab.Options{ServerCPUs: numbered(0, 7), LoadCPUs: numbered(8, 11)})
	few := answers(12, lab.Options{ServerCPUs: numbered(0, 1), LoadCPUs: numbered(2, 11)})
	two := answers(2, lab.Options{})
	for id, want := range map[string][3]bool{ // whether it is decided: with eight CPUs, of two, of two that the load has too
		"two_ps": {true, true, false}, "four_ps": {true, false, false}, "eight_ps": {true, false, false}, "two_ps_p99": {true, true, false}, "p99_rises_beyond": {true, true, true}, "peak_at_cpus": {true, true, true},
	} {
		for i, of := range []map[string]lab.Answered{apart, few, two} {
			if got := of[id].Answer.Decided(); got != want[i] {
				t.Errorf("%s, %d: %s (%s)", id, i, of[id].Answer, of[id].Reason)
			}
		}
	}
	if want := "needs 4 CPUs in addition to those of the load generator; this machine has 2"; few["four_ps"].Reason != want {
		t.Errorf("%q, want %q", few["four_ps"].Reason, want)
	}
}

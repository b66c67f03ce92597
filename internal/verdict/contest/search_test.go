package contest_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// world is what a program does at each setting: its throughput, and the memory at its peak.
type world func(procs int, value map[string]string) (throughput float64, bytes int64)

// varied is a plan of GOMAXPROCS 1 to 4 and variables, whose default is 4.
func varied(axes ...journal.Axis) journal.Header {
	h := journal.Header{TargetHost: journal.Host{CPUs: 4, EffectiveCPUs: 4}, Plan: journal.Plan{
		Strategy: journal.StrategyRace, Goal: journal.GoalProven, MaxTrials: 400, Margin: 0.05, MarginP99: 0.2, Vary: axes,
	}}
	for _, n := range []int{0, 1, 2, 3, 4} {
		a := journal.Setting{Label: "n", Replicas: 1, Variables: h.Plan.Start()}
		if n > 0 {
			a.Procs = new(n)
		}
		h.Plan.Settings = append(h.Plan.Settings, a)
	}
	return h
}

// measure runs what the searches ask for until they end.
func measure(t *testing.T, h journal.Header, w world, seed uint64) (contest.Search, []journal.Trial) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var trials []journal.Trial
	for block := 0; ; block++ {
		s := contest.Searches(h, trials)[0]
		if s.Done {
			return s, trials
		}
		step := s.Contests[len(s.Contests)-1].Next()
		if step.Stop != "" || len(trials) > 1000 {
			t.Fatalf("stop %q after %d trials, and the search is not done", step.Stop, len(trials))
		}
		for order, a := range step.Settings {
			value := map[string]string{}
			for _, v := range a.Variables {
				value[v.Name] = v.Value
			}
			procs := 4
			if a.Procs != nil {
				procs = *a.Procs
			}
			throughput, bytes := w(procs, value)
			one := journal.Trial{Setting: a, Role: journal.RoleMeasure, Valid: true, Block: block, Order: order, ObservedProcs: []*int{&procs}, ThroughputUnit: "runs"}
			one.ThroughputPerSecond = new(throughput * math.Exp(0.01*r.NormFloat64()))
			one.Memory = &journal.Memory{PeakRSSBytes: bytes}
			trials = append(trials, one)
		}
	}
}

func gogc(start string, values ...string) journal.Axis {
	return journal.Axis{Name: "GOGC", Values: values, Start: start}
}

// flat is a program whose throughput is that of so many Ps, and no more.
func upTo(procs, most int) float64 { return 100 * float64(min(procs, most)) }

func at(s contest.Search) string {
	text := "unset"
	if s.At.Procs != nil {
		text = string(rune('0' + *s.At.Procs))
	}
	for _, v := range s.At.Variables {
		text += " " + v.String()
	}
	return text
}

// The search ends at the best pair: of equals at the one of the least memory, and within
// the bound on memory. It says whether the variables depend on each other.
func TestSearch(t *testing.T) {
	collects := map[string]float64{"50": 0.6, "100": 0.8, "200": 1, "off": 1.01}
	heaps := map[string]int64{"50": 50, "100": 70, "200": 100, "off": 900}
	memory := func(value map[string]string) int64 { return heaps[value["GOGC"]] }
	for name, c := range map[string]struct {
		world    world
		axes     []journal.Axis
		most     int64 // bytes
		want     string
		apart    []string
		interact []string
	}{
		"apart": {
			func(procs int, v map[string]string) (float64, int64) {
				return upTo(procs, 2) * collects[v["GOGC"]], memory(v)
			},
			[]journal.Axis{gogc("100", "50", "100", "200", "off")}, 0, "2 GOGC=200", []string{""}, nil,
		},
		"all equal": {
			func(procs int, v map[string]string) (float64, int64) { return upTo(procs, 1), memory(v) },
			[]journal.Axis{gogc("100", "50", "100", "200", "off")}, 0, "unset GOGC=50", []string{""}, nil,
		},
		"memory": {
			func(procs int, v map[string]string) (float64, int64) {
				return upTo(procs, 2) * collects[v["GOGC"]], memory(v)
			},
			[]journal.Axis{gogc("100", "50", "100", "200", "off")}, 80, "2 GOGC=100", nil, nil,
		},
		"interact": { // only without collections do more Ps help
			func(procs int, v map[string]string) (float64, int64) {
				if v["GOGC"] == "off" {
					return upTo(procs, 4), memory(v)
				}
				return upTo(procs, 2) * collects[v["GOGC"]], memory(v)
			},
			[]journal.Axis{gogc("100", "50", "100", "off")}, 0, "unset GOGC=off", []string{"GOGC"}, []string{""},
		},
		"two": {
			func(procs int, v map[string]string) (float64, int64) {
				f := upTo(procs, 2) * collects[v["GOGC"]]
				if v["X"] == "b" {
					f *= 1.2
				}
				return f, memory(v)
			},
			[]journal.Axis{gogc("100", "50", "100", "200", "off"), {Name: "X", Values: []string{"a", "b"}, Start: "a"}}, 0, "2 GOGC=200 X=b", []string{"", "GOGC"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3) {
				h := varied(c.axes...)
				h.Plan.MaxMemoryBytes = c.most
				s, trials := measure(t, h, c.world, seed)
				if at(s) != c.want {
					t.Errorf("seed %d: %s after %d trials, want %s", seed, at(s), len(trials), c.want)
				}
				if !slices.Equal(s.Apart, c.apart) || !slices.Equal(s.Interact, c.interact) {
					t.Errorf("seed %d: apart %q, interact %q, want %q and %q", seed, s.Apart, s.Interact, c.apart, c.interact)
				}
				if len(trials) > 80 {
					t.Errorf("seed %d: %d trials, as many as for all pairs", seed, len(trials))
				}
				large := map[string]int{}
				for _, x := range trials {
					if v := x.Setting.Key().Value; c.most > 0 && heaps[v] > c.most {
						if large[v]++; large[v] > 1 {
							t.Errorf("GOGC=%s is above the bound, and was measured again", v)
						}
					}
				}
			}
		})
	}
}

// One value of GOMAXPROCS is compared with nothing: all trials are of the variable. A journal
// that ended early continues with what it lacks.
func TestSearchOfOneVariable(t *testing.T) {
	h := varied(gogc("100", "50", "100", "200", "off"))
	h.Plan.Settings = h.Plan.Settings[4:]
	w := func(_ int, v map[string]string) (float64, int64) {
		return map[string]float64{"50": 60, "100": 80, "200": 100, "off": 101}[v["GOGC"]], 1
	}
	s, trials := measure(t, h, w, 1)
	if at(s) != "4 GOGC=200" || len(s.Contests) != 1 || s.Contests[0].Group.Procs != 4 {
		t.Errorf("%s, %d contests", at(s), len(s.Contests))
	}
	before := contest.Searches(h, trials[:8])[0]
	if before.Done || len(before.Contests) != 1 || before.Contests[0].Next().Settings == nil {
		t.Errorf("after 8 trials it is done: %v", before.Done)
	}
}

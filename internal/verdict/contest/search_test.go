package contest_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
	"github.com/procfit/procfit/test/chance"
)

func gogc(values ...string) journal.Axis {
	return journal.Axis{Name: "GOGC", Values: values, Start: "100"}
}

// upTo is the throughput of a program that can use so many Ps, and no more.
func upTo(procs, most int) float64 { return 100 * float64(min(procs, most)) }

// at is where a search is.
func at(s contest.Search) string {
	text := "default"
	if s.At.Procs != nil {
		text = strconv.Itoa(*s.At.Procs)
	}
	for _, v := range s.At.Variables {
		text += " " + v.String()
	}
	return text
}

// The search ends at the best setting: of equals at the one of the least memory, and within
// the bound on memory. It says whether the variables depend on each other, and takes a
// fraction of the trials that all pairs would.
func TestSearch(t *testing.T) {
	collects := map[string]float64{"50": 0.6, "100": 0.8, "200": 1, "off": 1.01}
	heaps := map[string]int64{"50": 50, "100": 70, "200": 100, "off": 900}
	plain := func(procs int, v map[string]string) (float64, int64) {
		return upTo(procs, 2) * collects[v["GOGC"]], heaps[v["GOGC"]]
	}
	four := gogc("50", "100", "200", "off")
	for name, c := range map[string]struct {
		world           World
		axes            []journal.Axis
		most            int64 // bytes
		want            string
		apart, interact []string
	}{
		"apart":  {plain, []journal.Axis{four}, 0, "2 GOGC=200", []string{""}, nil},
		"memory": {plain, []journal.Axis{four}, 80, "2 GOGC=100", nil, nil},
		"memory not read": {func(procs int, v map[string]string) (float64, int64) {
			f, bytes := plain(procs, v)
			if v["GOGC"] == "200" {
				bytes = 0
			}
			return f, bytes
		}, []journal.Axis{four}, 150, "2 GOGC=100", nil, nil},
		"all equal": {func(procs int, v map[string]string) (float64, int64) { return 100, heaps[v["GOGC"]] }, []journal.Axis{four}, 0, "default GOGC=50", []string{""}, nil},
		"interact": {func(procs int, v map[string]string) (float64, int64) { // only without collections do more Ps help
			if v["GOGC"] == "off" {
				return upTo(procs, 4), 900
			}
			return plain(procs, v)
		}, []journal.Axis{gogc("50", "100", "off")}, 0, "default GOGC=off", []string{"GOGC"}, []string{""}},
		"two variables": {func(procs int, v map[string]string) (float64, int64) {
			f, bytes := plain(procs, v)
			if v["X"] == "b" {
				f *= 1.2
			}
			return f, bytes
		}, []journal.Axis{four, {Name: "X", Values: []string{"a", "b"}, Start: "a"}}, 0, "2 GOGC=200 X=b", []string{"", "GOGC"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3) {
				h := Varied(c.axes...)
				h.Plan.MaxMemoryBytes = c.most
				trials := Race(h, c.world, seed, 200)
				s := contest.Count(h, trials).Searches()[0]
				if at(s) != c.want || !s.Done {
					t.Errorf("seed %d: %s after %d trials, want %s", seed, at(s), len(trials), c.want)
				}
				if !slices.Equal(s.Apart, c.apart) || !slices.Equal(s.Interact, c.interact) {
					t.Errorf("seed %d: apart %q, interact %q, want %q and %q", seed, s.Apart, s.Interact, c.apart, c.interact)
				}
				if len(trials) > 80 {
					t.Errorf("seed %d: %d trials", seed, len(trials))
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
	h := Varied(gogc("50", "100", "200", "off"))
	h.Plan.Settings = h.Plan.Settings[4:]
	w := func(_ int, v map[string]string) (float64, int64) {
		return map[string]float64{"50": 60, "100": 80, "200": 100, "off": 101}[v["GOGC"]], 1
	}
	trials := Race(h, w, 1, 200)
	s := contest.Count(h, trials).Searches()[0]
	if at(s) != "4 GOGC=200" || !s.Done || len(s.Contests) != 1 || s.Contests[0].Group.Procs != 4 {
		t.Errorf("%s, %d contests", at(s), len(s.Contests))
	}
	before := contest.Count(h, trials[:8]).Searches()[0]
	if before.Done || len(before.Contests) != 1 || before.Contests[0].Next().Settings == nil {
		t.Errorf("after 8 trials it is done: %v", before.Done)
	}
}

// A variable that cannot be decided leaves the others their part of the budget.
func TestSearchSharesTheBudget(t *testing.T) {
	h := Varied(gogc("50", "100"))
	h.Plan.MaxTrials = 40
	r := rand.New(rand.NewPCG(1, 1))
	trials := Race(h, func(_ int, v map[string]string) (float64, int64) {
		if v["GOGC"] == "50" {
			return 10, 1
		}
		return 100 * math.Exp(0.5*r.NormFloat64()), 1
	}, 1, 200)
	count := map[string]int{}
	for _, x := range trials {
		count[x.Setting.Compares]++
	}
	if count[""] > 20 || count["GOGC"] < 6 {
		t.Errorf("%v", count)
	}
}

// A journal may be anyone's: a plan that compares a variable which it does not have, a start
// that is none of its values, and settings that are twice there.
func TestSearchOfForeignJournals(t *testing.T) {
	for name, change := range map[string]func(p *journal.Plan){
		"unknown variable": func(p *journal.Plan) { p.Settings[0].Compares = "NONE" },
		"no values":        func(p *journal.Plan) { p.Vary[0].Values = nil },
		"unknown start":    func(p *journal.Plan) { p.Vary[0].Start = "x" },
		"no settings":      func(p *journal.Plan) { p.Settings = nil },
		"a variable twice": func(p *journal.Plan) { p.Vary = append(p.Vary, p.Vary[0]) },
		"a grid":           func(p *journal.Plan) { p.Strategy, p.Settings[0].Compares = "", "GOGC" },
	} {
		h := Varied(gogc("50", "100"))
		trials := Race(h, func(int, map[string]string) (float64, int64) { return 100, 1 }, 1, 20)
		change(&h.Plan)
		for _, s := range contest.Count(h, trials).Searches() {
			t.Log(name, at(s), s.Done)
		}
		contest.Count(h, trials).Ends()
	}
}

// Of programs at random, some of whose variables depend on each other, hardly any search names
// a pair that is worse by more than the margin than another value of GOMAXPROCS, or of the
// variable, next to the other one of the pair.
func TestSearchIsSeldomWrong(t *testing.T) {
	runs := chance.Sweeps(60)
	for _, noise := range []float64{0.02, 0.05} {
		r := rand.New(rand.NewPCG(5, 5))
		names, wrong, taken := 0, 0, 0
		for run := range runs {
			truth := program(r)
			h := Varied(gogc(variedValues...))
			h.Plan.MaxTrials = 160
			trials := Race(h, func(procs int, v map[string]string) (float64, int64) {
				return 100 * truth[pair{procs, v["GOGC"]}] * math.Exp(noise*r.NormFloat64()), 1
			}, uint64(run), 200)
			taken += len(trials)
			s := contest.Count(h, trials).Searches()[0]
			if !s.Done || slices.ContainsFunc(s.Contests, func(c *contest.Contest) bool {
				at := s.At
				at.Compares = c.Group.Compares
				return at.Group() == c.Group && c.Sure() == ""
			}) {
				continue
			}
			names++
			named := pair{4, s.At.Variables[0].Value}
			if s.At.Procs != nil {
				named.procs = *s.At.Procs
			}
			best := 0.0
			for other, x := range truth {
				if other.procs == named.procs || other.value == named.value {
					best = math.Max(best, x)
				}
			}
			if truth[named] < 0.95*best {
				wrong++
			}
		}
		t.Logf("trials that vary by %g%%: of %d sweeps %d name a pair, %d a wrong one, after %d trials each", 100*noise, runs, names, wrong, taken/runs)
		if wrong > chance.Most(names, 0.02) || 2*names < runs || taken > 70*runs {
			t.Errorf("trials that vary by %g%%: of %d sweeps %d name a pair, %d a wrong one, after %d trials each", 100*noise, runs, names, wrong, taken/runs)
		}
	}
}

type pair struct {
	procs int
	value string
}

var variedValues = []string{"50", "100", "200", "400"}

// program is one that can use 1 to 4 Ps, and gains by each larger GOGC; the largest may let
// it use more Ps.
func program(r *rand.Rand) map[pair]float64 {
	truth := map[pair]float64{}
	most, depends, gain := 1+r.IntN(4), r.IntN(3) == 0, 1.0
	for i, v := range variedValues {
		gain *= 1 + 0.15*r.Float64()
		for p := 1; p <= 4; p++ {
			truth[pair{p, v}] = upTo(p, most) * gain
			if depends && i == len(variedValues)-1 {
				truth[pair{p, v}] *= 1 + 0.1*float64(p-1)
			}
		}
	}
	return truth
}

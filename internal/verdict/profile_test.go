package verdict_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

// labels are the settings of a pair, with their limit.
func labels(pair []journal.Setting) string {
	var list []string
	for _, a := range pair {
		text := a.Label
		for _, v := range a.Variables {
			text += "," + v.String()
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

func TestToProfile(t *testing.T) {
	for name, of := range map[string]struct {
		config Config
		want   string
	}{
		"a value that is better":        {Config{CPUs: 8, Settings: []Truth{Unset(8, 5000, .01), Set(1, 5000, .01), Set(2, 9900, .005), Set(4, 12000, .004), Set(8, 5000, .01)}, Noise: &Noise{Trial: 0.01}}, "default 4"},
		"the default, by its own value": {Config{CPUs: 2, Settings: []Truth{Unset(2, 9900, .005), Set(1, 5000, .01), Set(2, 9900, .005), Set(4, 8000, .007)}, Noise: &Noise{Trial: 0.01}}, "default"},
		"no default among the values":   {Config{CPUs: 4, Settings: []Truth{Set(1, 5000, .01), Set(2, 9900, .005), Set(4, 19000, .004)}, Noise: &Noise{Trial: 0.01}}, "default 4"},
		"no answer":                     {Config{CPUs: 4, Blocks: 1, Settings: []Truth{Unset(4, 9000, .01), Set(1, 9000, .01)}, Noise: &Noise{Trial: 0.3}}, "default"},
	} {
		h, trials := Generate(of.config)
		r := verdict.Analyze(h, trials)
		pair := r.ToProfile()
		for _, a := range pair {
			if a.Group() != pair[0].Group() || a.Variant != "" {
				t.Errorf("%s: %+v is not of its group", name, a)
			}
		}
		if text := labels(pair); text != of.want {
			t.Errorf("%s: %q, want %q (%s %s)", name, text, of.want, r.Groups[0].Recommendation.Verdict, r.Groups[0].Recommendation.Setting)
		}
	}
	h := Varied(journal.Axis{Name: "GOGC", Values: []string{"50", "100", "200"}, Start: "100"})
	trials := Race(h, func(procs int, v map[string]string) (float64, int64) {
		return 100 * math.Min(float64(procs), 2) * map[string]float64{"50": 0.6, "100": 0.8, "200": 1}[v["GOGC"]], 1
	}, 1, 200)
	if pair := verdict.Analyze(h, trials).ToProfile(); labels(pair) != "default,GOGC=100 2,GOGC=200" {
		t.Errorf("of variables: %v", pair)
	}
	if pair := verdict.Analyze(h, trials[:9]).ToProfile(); labels(pair) != "default,GOGC=100" {
		t.Errorf("of variables without an answer: %v", pair)
	}
}

// profiled is a setting's profile; functions are seconds by name.
func profiled(a journal.Setting, functions map[string]float64) journal.Profiled {
	p := &journal.Profile{File: "profiles/" + a.Label + ".pprof", Seconds: 10}
	for name, v := range functions {
		p.Total += v
		p.Functions = append(p.Functions, journal.ProfiledFunction{Name: name, Value: v})
	}
	slices.SortFunc(p.Functions, func(a, b journal.ProfiledFunction) int { return int(1000 * (b.Value - a.Value)) })
	return journal.Profiled{Kind: journal.KindProfiled, Setting: a, CPU: p}
}

func swept(t *testing.T) (*verdict.Result, journal.Setting, journal.Setting) {
	t.Helper()
	h, trials := Generate(Config{CPUs: 8, Settings: []Truth{Unset(8, 5000, .01), Set(1, 5000, .01), Set(2, 9900, .005), Set(4, 12000, .004), Set(8, 5000, .01)}, Noise: &Noise{Trial: 0.01}})
	r := verdict.Analyze(h, trials)
	pair := r.ToProfile()
	return r, pair[0], pair[1]
}

// The table has the five functions that differ most, with the share in both.
func TestProfileTable(t *testing.T) {
	r, standard, other := swept(t)
	r.Profile([]journal.Profiled{
		profiled(standard, map[string]float64{"main.f": 99, "main.old": 1}), // of an earlier try
		profiled(standard, map[string]float64{"main.f": 4, "runtime.gc": 3, "main.g": 2, "main.gone": 0.5, "main.h": 0.4, "main.i": 0.1}),
		profiled(other, map[string]float64{"main.f": 8, "runtime.gc": 1.5, "main.g": 5, "main.new": 1, "main.h": 0.3, "main.i": 0.2}),
	})
	if r.Profiled == nil || len(r.Profiled.Settings) != 2 || r.Profiled.Allocations != nil {
		t.Fatalf("%+v", r.Profiled)
	}
	table := r.Profiled.CPU
	if len(table.Functions) != 5 || table.Functions[0].Name != "runtime.gc" {
		t.Fatalf("%+v", table)
	}
	for name, want := range map[string][2]float64{"main.f": {.4, .5}, "runtime.gc": {.3, .09375}, "main.gone": {.05, 0}, "main.new": {0, .0625}} {
		i := slices.IndexFunc(table.Functions, func(r verdict.ProfileRow) bool { return r.Name == name })
		if i < 0 {
			t.Errorf("%s is not in the table", name)
			continue
		}
		for k, v := range want {
			if got := table.Functions[i].Shares[k]; got == nil || math.Abs(*got-v) > 1e-9 {
				t.Errorf("%s: %v, expected %g", name, got, v)
			}
		}
	}
}

// What is not known is not zero, and a profile that is missing is a warning.
func TestProfilesThatLackSomething(t *testing.T) {
	r, standard, other := swept(t)
	a, b := profiled(standard, map[string]float64{"main.f": 5, "main.g": 5}), profiled(other, map[string]float64{"main.f": 9, "main.h": 1})
	b.CPU.Left = 3 // main.g may be among them
	a.Missing = "no allocation profile"
	r.Profile([]journal.Profiled{a, b})
	table := r.Profiled.CPU
	g := table.Functions[slices.IndexFunc(table.Functions, func(r verdict.ProfileRow) bool { return r.Name == "main.g" })]
	if g.Shares[1] != nil {
		t.Errorf("of a function that may be there: %+v", g)
	}
	if w, _ := warned[verdict.NotProfiled](r); w.Why != "no allocation profile" || w.Serving {
		t.Errorf("%+v", r.Warnings)
	}

	// A function that only the default names differs by its share at least: it is in the table.
	r, standard, other = swept(t)
	a = profiled(standard, map[string]float64{"main.only": 5, "main.a": 1, "main.b": 1, "main.c": 1, "main.d": 1, "main.e": 1})
	b = profiled(other, map[string]float64{"main.new": 4, "main.a": 1.2, "main.b": 1.2, "main.c": 1.2, "main.d": 1.2, "main.e": 1.2})
	a.CPU.Left, b.CPU.Left = 1, 1
	r.Profile([]journal.Profiled{a, b})
	if list := r.Profiled.CPU.Functions; list[0].Name != "main.only" || list[1].Name != "main.new" || list[0].Shares[1] != nil {
		t.Errorf("%+v", list)
	}

	// One setting's profile stays where the other has none.
	r, standard, other = swept(t)
	a, b = profiled(standard, nil), profiled(other, map[string]float64{"main.f": 9})
	a.Allocations = b.CPU
	r.Profile([]journal.Profiled{a, b})
	if p := r.Profiled; p.CPU == nil || p.CPU.Taken[0] != nil || p.CPU.Taken[1].File != b.CPU.File || p.CPU.Functions[0].Shares[0] != nil || *p.CPU.Functions[0].Shares[1] != 1 ||
		p.Allocations == nil || p.Allocations.Taken[0].File != b.CPU.File || p.Allocations.Taken[1] != nil {
		t.Errorf("%+v, %+v", p.CPU, p.Allocations)
	}

	r, standard, _ = swept(t)
	r.Profile([]journal.Profiled{{Setting: standard, Missing: "it answered 404"}})
	if r.Profiled != nil || !has[verdict.NotProfiled](r) {
		t.Errorf("%+v, %+v", r.Profiled, r.Warnings)
	}
	r.Groups[0].Recommendation.Next = []verdict.Step{{Code: verdict.StepProfile}}
	r.Profile([]journal.Profiled{profiled(standard, nil)})
	if r.Profiled.CPU != nil || len(r.Groups[0].Recommendation.Next) != 1 {
		t.Errorf("a profile without a sample: %+v, next %+v", r.Profiled.CPU, r.Groups[0].Recommendation.Next)
	}
}

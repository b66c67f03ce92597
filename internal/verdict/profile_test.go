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
		"a value that is better":        {Config{CPUs: 8, Settings: []Truth{Unset(8, 5000, .01), Set(1, 5000, .01), Set(2, 9900, .005), Set(4, 12000, .004), Set(8, 5000, .01)}, Noise: &Noise{Trial: 0.01}}, "unset 4"},
		"the default, by its own value": {Config{CPUs: 2, Settings: []Truth{Unset(2, 9900, .005), Set(1, 5000, .01), Set(2, 9900, .005), Set(4, 8000, .007)}, Noise: &Noise{Trial: 0.01}}, "unset"},
		"no default among the values":   {Config{CPUs: 4, Settings: []Truth{Set(1, 5000, .01), Set(2, 9900, .005), Set(4, 19000, .004)}, Noise: &Noise{Trial: 0.01}}, "unset 4"},
		"no answer":                     {Config{CPUs: 4, Blocks: 1, Settings: []Truth{Unset(4, 9000, .01), Set(1, 9000, .01)}, Noise: &Noise{Trial: 0.3}}, "unset"},
		"two limits":                    {Config{CPUs: 4, Settings: slices.Concat(Quota(1, Unset(2, 5000, .01), Set(1, 5000, .01), Set(2, 5000, .01)), Quota(2, Unset(2, 9000, .01), Set(1, 5000, .01), Set(2, 9000, .01))), Noise: &Noise{Trial: 0.01}}, "unset | unset"},
	} {
		h, trials := Generate(of.config)
		var got []string
		r := verdict.Analyze(h, trials)
		for _, pair := range r.ToProfile() {
			got = append(got, labels(pair))
			for _, a := range pair {
				if a.Group() != pair[0].Group() || a.Variant != "" {
					t.Errorf("%s: %+v is not of its group", name, a)
				}
			}
		}
		if text := strings.Join(got, " | "); text != of.want {
			t.Errorf("%s: %q, want %q (%s %s)", name, text, of.want, r.Groups[0].Recommendation.Verdict, r.Groups[0].Recommendation.Setting)
		}
	}
	h := Varied(journal.Axis{Name: "GOGC", Values: []string{"50", "100", "200"}, Start: "100"})
	trials := Race(h, func(procs int, v map[string]string) (float64, int64) {
		return 100 * math.Min(float64(procs), 2) * map[string]float64{"50": 0.6, "100": 0.8, "200": 1}[v["GOGC"]], 1
	}, 1, 200)
	if pairs := verdict.Analyze(h, trials).ToProfile(); len(pairs) != 1 || labels(pairs[0]) != "unset,GOGC=100 2,GOGC=200" {
		t.Errorf("of variables: %v", pairs)
	}
	if pairs := verdict.Analyze(h, trials[:9]).ToProfile(); len(pairs) != 1 || labels(pairs[0]) != "unset,GOGC=100" {
		t.Errorf("of variables without an answer: %v", pairs)
	}
}

// profiled is a setting's profile of so many requests; functions are seconds by name.
func profiled(a journal.Setting, requests float64, functions map[string]float64) journal.Profiled {
	p := &journal.Profile{File: "profiles/" + a.Label + ".pprof", Seconds: 10, Collector: &journal.Part{}, Scheduler: &journal.Part{}}
	if requests > 0 {
		p.Requests = &requests
	}
	for name, v := range functions {
		part := journal.Part{Value: v, Samples: 100 * v}
		p.Total, p.Samples = p.Total+v, p.Samples+100*v
		p.Functions = append(p.Functions, journal.ProfiledFunction{Name: name, Part: part})
		if strings.HasPrefix(name, "runtime.") {
			p.Collector.Value, p.Collector.Samples = p.Collector.Value+v, p.Collector.Samples+100*v
		}
	}
	slices.SortFunc(p.Functions, func(a, b journal.ProfiledFunction) int { return int(1000 * (b.Value - a.Value)) })
	return journal.Profiled{Kind: journal.KindProfiled, Setting: a, CPU: p}
}

func swept(t *testing.T) (*verdict.Result, journal.Setting, journal.Setting) {
	t.Helper()
	h, trials := Generate(Config{CPUs: 8, Settings: []Truth{Unset(8, 5000, .01), Set(1, 5000, .01), Set(2, 9900, .005), Set(4, 12000, .004), Set(8, 5000, .01)}, Noise: &Noise{Trial: 0.01}})
	r := verdict.Analyze(h, trials)
	pair := r.ToProfile()[0]
	return r, pair[0], pair[1]
}

// Values are of a request, so that settings of different throughput compare.
func TestProfileTable(t *testing.T) {
	r, standard, other := swept(t)
	r.Profile([]journal.Profiled{
		profiled(standard, 1000, map[string]float64{"main.f": 99, "main.old": 1}), // of an earlier try
		profiled(standard, 1000, map[string]float64{"main.f": 4, "runtime.gc": 3, "main.g": 2, "main.gone": 0.5, "main.h": 0.04, "main.i": 0.03, "main.j": 0.02}),
		profiled(other, 2000, map[string]float64{"main.f": 8.2, "runtime.gc": 1.5, "main.g": 5, "main.new": 0.4, "main.h": 0.2, "main.i": 0.01}),
	})
	if len(r.Profiles) != 1 || len(r.Profiles[0].Settings) != 2 || r.Profiles[0].Allocations != nil {
		t.Fatalf("%+v", r.Profiles)
	}
	table := r.Profiles[0].CPU
	if !table.PerRequest || len(table.Functions) != 6 {
		t.Fatalf("%+v", table)
	}
	for _, want := range []struct {
		name   string
		values [2]float64 // seconds per request
		change float64    // NaN: none
		clear  bool
	}{
		{"main.f", [2]float64{.004, .0041}, .025, false}, {"runtime.gc", [2]float64{.003, .00075}, -.75, true}, {"main.g", [2]float64{.002, .0025}, .25, false},
		{"main.gone", [2]float64{.0005, 0}, -1, true}, {"main.new", [2]float64{0, .0002}, math.NaN(), true}, {"main.h", [2]float64{.00004, .0001}, 1.5, false},
	} {
		i := slices.IndexFunc(table.Functions, func(r verdict.ProfileRow) bool { return r.Name == want.name })
		if i < 0 {
			t.Errorf("%s is not in the table", want.name)
			continue
		}
		row := table.Functions[i]
		for k, v := range want.values {
			if got := row.Values[k].Value; got == nil || math.Abs(*got-v) > 1e-9 {
				t.Errorf("%s: %v, want %g", want.name, got, v)
			}
		}
		switch {
		case math.IsNaN(want.change) != (row.Change == nil):
			t.Errorf("%s: change %v", want.name, row.Change)
		case row.Change != nil && math.Abs(*row.Change-want.change) > 1e-6:
			t.Errorf("%s: change %g, want %g", want.name, *row.Change, want.change)
		case row.Clear != want.clear:
			t.Errorf("%s is clear: %v", want.name, row.Clear)
		}
	}
	if all := table.All; math.Abs(*all.Values[0].Share-1) > 1e-9 || *all.Change > -0.1 || !all.Clear {
		t.Errorf("in all: %+v", all)
	}
	if parts := table.Parts; len(parts) != 2 || parts[0].Name != verdict.PartCollector || !parts[0].Clear || *parts[1].Values[0].Share != 0 {
		t.Errorf("%+v", parts)
	}
}

// A function of one setting alone is new or gone only if the other profile had room enough for
// its samples: of eight times the requests there are eight times the samples.
func TestFunctionsOfOneSetting(t *testing.T) {
	for name, c := range map[string]struct {
		requests, seconds [2]float64
		only              [2]float64 // seconds of the function
		clear             bool
	}{
		"six of equal profiles":           {[2]float64{1000, 1000}, [2]float64{9, 9}, [2]float64{0, 0.06}, false},
		"ten of equal profiles":           {[2]float64{1000, 1000}, [2]float64{9, 9}, [2]float64{0, 0.10}, true},
		"ten that are gone":               {[2]float64{1000, 1000}, [2]float64{9, 9}, [2]float64{0.10, 0}, true},
		"ten of eight times the requests": {[2]float64{1000, 8000}, [2]float64{1, 8}, [2]float64{0, 0.10}, false},
		"many of them":                    {[2]float64{1000, 8000}, [2]float64{1, 8}, [2]float64{0, 0.80}, true},
		"a few of an eighth of them":      {[2]float64{8000, 1000}, [2]float64{8, 1}, [2]float64{0, 0.04}, true},
		"ten of eight times the samples":  {[2]float64{}, [2]float64{1, 8}, [2]float64{0, 0.10}, false},
		"ten of an eighth of the samples": {[2]float64{}, [2]float64{8, 1}, [2]float64{0, 0.10}, true},
	} {
		r, standard, other := swept(t)
		list := []journal.Profiled{}
		for i, a := range []journal.Setting{standard, other} {
			functions := map[string]float64{"main.f": c.seconds[i]}
			if c.only[i] > 0 {
				functions["main.only"] = c.only[i]
			}
			list = append(list, profiled(a, c.requests[i], functions))
		}
		r.Profile(list)
		table := r.Profiles[0].CPU
		row := table.Functions[slices.IndexFunc(table.Functions, func(r verdict.ProfileRow) bool { return r.Name == "main.only" })]
		if row.Clear != c.clear || (row.Change != nil) != (c.only[0] > 0) {
			t.Errorf("%s: clear %v, want %v, and a change of %v", name, row.Clear, c.clear, row.Change)
		}
	}
}

// Without a number of requests shares are compared; what is not known is neither none nor
// changed.
func TestProfilesThatLackSomething(t *testing.T) {
	r, standard, other := swept(t)
	a, b := profiled(standard, 0, map[string]float64{"main.f": 5, "main.g": 5}), profiled(other, 10, map[string]float64{"main.f": 9, "main.h": 1})
	b.CPU.Left = 3 // main.g may be among them
	a.Missing = "no allocation profile"
	r.Profile([]journal.Profiled{a, b})
	table := r.Profiles[0].CPU
	if table.PerRequest || table.Functions[0].Values[0].Value != nil || math.Abs(*table.Functions[0].Change-0.8) > 1e-9 {
		t.Errorf("%+v", table.Functions[0])
	}
	g := table.Functions[slices.IndexFunc(table.Functions, func(r verdict.ProfileRow) bool { return r.Name == "main.g" })]
	if g.Change != nil || g.Clear || g.Values[1].Share != nil {
		t.Errorf("of a function that may be there: %+v", g)
	}
	if w, _ := warned[verdict.NotProfiled](r); w.Why != "no allocation profile" || w.Serving {
		t.Errorf("%+v", r.Warnings)
	}

	r, standard, _ = swept(t)
	r.Profile([]journal.Profiled{{Setting: standard, Missing: "it answered 404"}})
	if r.Profiles != nil || !has[verdict.NotProfiled](r) {
		t.Errorf("%+v, %+v", r.Profiles, r.Warnings)
	}
	r.Profile([]journal.Profiled{profiled(standard, 1, nil)})
	if r.Profiles[0].CPU != nil {
		t.Errorf("a profile without a sample: %+v", r.Profiles[0].CPU)
	}
}

package lab

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// What a hypothesis needs depends on whether the load has CPUs of its own.
func TestRoom(t *testing.T) {
	six := stageOf(6, func(procs, block int) float64 { return float64(procs) * (1 + 0.01*float64(block)) }, 1, 2, 4)
	e := Experiment{Hypotheses: []Hypothesis{{
		ID: "twice", AtLeast: 1.9, AtMost: 2.1, Needs: 3, LoadCPUs: 1, Measure: ratio(quantity{Procs: "2"}, quantity{Procs: "1"}),
	}}}
	for name, tc := range map[string]struct {
		cpus         float64
		server, load cpuset.Set
		command      bool // another machine's load
		answer       Answer
		reason       string
	}{
		"two CPUs":                   {2, nil, nil, false, NotAsked, "needs 3 CPUs, 1 of them for the load generator; this machine has 2"},
		"three":                      {3, nil, nil, false, Holds, ""},
		"three, set apart":           {3, cpuset.Set{0, 1}, cpuset.Set{2}, false, Holds, ""},
		"three, too few of them":     {3, cpuset.Set{0}, cpuset.Set{1, 2}, false, NotAsked, "needs 2 CPUs in addition to those of the load generator; this machine has 1"},
		"four, not apart":            {4, cpuset.Set{0, 1}, cpuset.Set{1, 2, 3}, false, NotAsked, "needs 3 CPUs, 1 of them for the load generator; this machine has 2"},
		"two, loaded from elsewhere": {2, nil, nil, true, Holds, ""},
		"fewer than the list says":   {1, cpuset.Set{0, 1}, cpuset.Set{2}, false, NotAsked, "needs 2 CPUs in addition to those of the load generator; this machine has 1"},
	} {
		m := six.with(func(*journal.Trial) {})
		result := *six.Result
		result.Host.EffectiveCPUs = tc.cpus
		result.Target = journal.Target{Kind: journal.KindServer, ServerCPUs: tc.server}
		result.Load = journal.Load{LoadCPUs: tc.load, Arrangement: new(journal.Arrange(tc.server, tc.load))}
		if tc.command {
			result.Load.Arrangement = new(journal.ArrangementElsewhere)
		}
		m.Result = &result
		j := judge(e, Results{"": m}, tc.cpus)[0]
		if j.Answer != tc.answer || j.Reason != tc.reason {
			t.Errorf("%s: %s, %q; want %s, %q", name, j.Answer, j.Reason, tc.answer, tc.reason)
		}
	}
}

// A value that a load of its own CPUs leaves on one CPU needs no second.
func TestApart(t *testing.T) {
	h := Hypothesis{Needs: 3, LoadCPUs: 1, Apart: 1}
	if apart, shared := (machine{1, true}).needs(h), (machine{2, false}).needs(h); apart != 1 || shared != 3 {
		t.Errorf("needs %g CPUs apart and %g shared", apart, shared)
	}
}

// As many Ps as CPUs are as many as the program was given.
func TestCPUsOfTheProgram(t *testing.T) {
	m := stageOf(6, func(procs, _ int) float64 { return float64(procs) }, 1, 2, 8)
	m.Result.Host.EffectiveCPUs = 8
	at := quantity{Procs: "n"}
	if got := at.procs(m); got != 8 {
		t.Errorf("%d", got)
	}
	m.Result.Target.ServerCPUs = cpuset.Set{0, 1}
	if got := at.procs(m); got != 2 {
		t.Errorf("%d of two CPUs", got)
	}
	if got := speedup(throughput.At("n")).of(Results{"": m}); got.Value == nil || *got.Value != 1 {
		t.Errorf("%+v", got)
	}
}

// Where programs and load run, and which load it is, reach every stage that they are for.
func TestPlaces(t *testing.T) {
	o := Options{CPUs: 2, Quick: true, ServerCPUs: []int{0, 1}, LoadCPUs: []int{2}, Load: "wrk {url}"}
	for _, e := range List() {
		for _, s := range e.Stages(o) {
			want := Stage{}
			if want.Target.CPUs = o.ServerCPUs; e.Kind == Server {
				want.Load.CPUs, want.Load.Command = o.LoadCPUs, o.Load
			}
			if !reflect.DeepEqual(s.Target.CPUs, want.Target.CPUs) || !reflect.DeepEqual(s.Load.CPUs, want.Load.CPUs) || s.Load.Command != want.Load.Command || s.Load.Shared {
				t.Errorf("%s %s: %+v on %v", e.ID, s.ID, s.Load, s.Target.CPUs)
			}
		}
		for _, s := range e.Stages(Options{CPUs: 2}) {
			if apart := s.ID == "apart"; s.Load.Shared != (e.Kind == Server && !apart) || (s.Target.CPUs != nil) != apart {
				t.Errorf("%s %s as it is: %+v on %v", e.ID, s.ID, s.Load, s.Target.CPUs)
			}
		}
	}
}

// Server and load are put onto CPUs that procfit may use, with cores of their own where these are
// enough.
func TestApartStage(t *testing.T) {
	for name, tt := range map[string]struct {
		o            Options
		server, load []int
	}{
		"not known":       {Options{CPUs: 4}, []int{0, 1}, []int{2, 3}},
		"the upper four":  {Options{CPUs: 4, Allowed: []int{4, 5, 6, 7}}, []int{4, 5}, []int{6, 7}},
		"two cores":       {Options{CPUs: 4, Allowed: []int{0, 2, 1, 3}}, []int{0, 2}, []int{1, 3}},
		"a limit of two":  {Options{CPUs: 2.5, Allowed: []int{0, 4, 1, 5}}, []int{0}, []int{5}},
		"fewer are known": {Options{CPUs: 8, Allowed: []int{3, 7}}, []int{3}, []int{7}},
		"one":             {Options{CPUs: 8, Allowed: []int{3}}, nil, nil},
	} {
		var server, load []int
		for _, s := range apartStage(tt.o) {
			server, load = s.Target.CPUs, s.Load.CPUs
		}
		if !slices.Equal(server, tt.server) || !slices.Equal(load, tt.load) {
			t.Errorf("%s: the server on %v, the load on %v", name, server, load)
		}
	}
}

// What only one load generator counts is not reported of another's figures.
func TestCountedBy(t *testing.T) {
	m := stageOf(6, func(procs, _ int) float64 { return float64(procs) }, 1, 2)
	measure := countedBy("wrk", "", ratio(quantity{Procs: "2"}, quantity{Procs: "1"}))
	for command, want := range map[string]bool{"": false, "hey {url}": false, "wrk -c8 {url}": true, "/usr/bin/wrk {url}": true} {
		m.Result.Load.Command = command
		got := measure.of(Results{"": m})
		if (got.Value != nil) != want || !want && !strings.Contains(got.Why, "only wrk counts so") {
			t.Errorf("%q: %+v", command, got)
		}
	}
	if got := measure.of(nil); got.Value != nil || got.Why == "" {
		t.Errorf("of nothing: %+v", got)
	}
}

package plan

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// slicedRace is a race of a server that slices begin, by GOMAXPROCS 1 to 5.
func slicedRace(t *testing.T) journal.Header {
	t.Helper()
	s := Default()
	s.Target.Command, s.Target.URL, s.Slices, s.Budget = []string{"server", "{port}"}, "http://127.0.0.1:{port}/", true, &Budget{Goal: journal.GoalProven}
	h := journal.Header{TargetHost: journal.Host{EffectiveCPUs: 2}, Plan: s.Plan(2, 7)}
	h.Target.Kind = s.Target.Kind()
	if !h.Plan.Slices {
		t.Fatal("a server's race has no slices")
	}
	return h
}

// quiet is a knee with a default of 4 and no other program next to it.
func quiet(k *knee) func(n int, t Task) (journal.Trial, error) {
	return func(n int, t Task) (journal.Trial, error) {
		if t.Setting.Procs == nil {
			t.Setting.Procs = ptr(4)
		}
		trial, err := k.run(n, t)
		trial.MeasuredSeconds, trial.HostUse = 1, &journal.HostUse{TargetCPUs: 4, OtherCPUSeconds: ptr(0.0)}
		return trial, err
	}
}

// numbers are the values that some trials measured, by role.
func numbers(trials []journal.Trial, role journal.Role) (list []int) {
	for _, t := range trials {
		if t.Role == role {
			list = append(list, *t.ObservedProcs[0])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Pilots and slices are of one start; then the values that these leave have starts of their own.
func TestSlicesComeFirst(t *testing.T) {
	h := slicedRace(t)
	k := &knee{at: 3}
	x := k.execution(h, Record{})
	k.fake.answer = quiet(k)
	var told Activity
	x.Observe = func(a Activity) {
		if a.Step == StepSliced {
			told = a
		}
	}
	must.OK(t, x.Run(t.Context()))
	phase := 0
	for i, trial := range x.kept {
		now := map[journal.Role]int{journal.RolePilot: 0, journal.RoleSlice: 1, journal.RoleMeasure: 2}[trial.Role]
		if now < phase {
			t.Errorf("trial %d is a %s", i, trial.Role)
		}
		if phase = now; (trial.Start != nil) != (now == 1) || now == 1 && trial.Setting.Procs == nil {
			t.Errorf("a %s of start %v at %v", trial.Role, trial.Start, trial.Setting.Procs)
		}
	}
	if in := numbers(x.kept, journal.RoleSlice); !slices.Equal(in, []int{1, 2, 3, 4, 5}) {
		t.Errorf("slices of %v", in)
	}
	if own := numbers(x.kept, journal.RoleMeasure); !slices.Contains(own, 3) || !slices.Contains(own, 4) || slices.Contains(own, 1) || slices.Contains(own, 2) {
		t.Errorf("starts of their own of %v", own)
	}
	if len(told.Values) < 2 || told.Detail != "" || !slices.IsSorted(told.Values[1:]) || told.Values[0] != journal.Default {
		t.Errorf("told %+v", told)
	}
}

// The time of --for is that of the slices too.
func TestSlicesUseTheTime(t *testing.T) {
	h := slicedRace(t)
	h.Plan.MaxSeconds = 60
	trial := journal.Trial{Role: journal.RolePilot, Valid: true, DurationSeconds: 10}
	slice := journal.Trial{Role: journal.RoleSlice, Valid: true, DurationSeconds: 1}
	r := Record{Trials: slices.Repeat([]journal.Trial{trial}, 2), Slices: slices.Repeat([]journal.Trial{slice}, 36)}
	first := Task{Role: journal.RoleMeasure}
	x := Execution{Header: h, have: r}
	err := x.overBudget(first)
	want := "--for 1m does not hold the first blocks: 2 trials and 36 slices took 56.0 s, and it has 7 trials; --for 1m46s with the same --out completes it"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if x.have.Slices = nil; x.overBudget(first) != nil {
		t.Error("over the budget without slices")
	}
}

// A slice that is invalid is thrown away with the rest of its start. Where no value can be set, or
// where three slices are invalid, all that was planned is measured in starts of their own, and
// that is reported once.
func TestSlicesThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		code    journal.InvalidCode
		invalid int // of the first slices
		want    int // invalid ones
		starts  int
		detail  string
	}{
		"one":               {journal.InvalidStolen, 1, 1, 2, ""},
		"three":             {journal.InvalidStolen, 9, 3, 3, "3 slices of one start were invalid; the last one: it failed"},
		"without an answer": {journal.InvalidNoAnswer, 9, 3, 3, "3 slices of one start were invalid, and in the last one no request was answered"},
		"not set":           {journal.InvalidNotSet, 9, 1, 1, "it failed"},
	} {
		k := &knee{at: 3}
		x := k.execution(slicedRace(t), Record{})
		seen := 0
		k.fake.answer = func(n int, task Task) (journal.Trial, error) {
			trial, err := quiet(k)(n, task)
			if task.Slice() {
				if seen++; seen <= c.invalid {
					trial.Valid, trial.InvalidCode, trial.InvalidReason = false, c.code, "it failed"
				}
			}
			return trial, err
		}
		var told []string
		x.Observe = func(a Activity) {
			if a.Step == StepSliced {
				told = append(told, a.Detail)
			}
		}
		must.OK(t, x.Run(t.Context()))
		invalid, starts := 0, map[int]bool{}
		for _, trial := range x.kept {
			if trial.Role == journal.RoleSlice {
				starts[*trial.Start] = true
				if !trial.Valid {
					invalid++
				}
			}
		}
		if invalid != c.want || len(starts) != c.starts || !slices.Equal(told, []string{c.detail}) {
			t.Errorf("%s: %d invalid slices in %d starts, reported %q", name, invalid, len(starts), told)
		}
		if own := numbers(x.kept, journal.RoleMeasure); slices.Contains(own, 1) != (c.detail != "") {
			t.Errorf("%s: starts of their own of %v", name, own)
		}
	}
}

// A run that continues takes slices of another start next to those that it has.
func TestSlicesGoOn(t *testing.T) {
	h := slicedRace(t)
	k := &knee{at: 3}
	x := k.execution(h, Record{})
	k.fake.answer = func(n int, task Task) (journal.Trial, error) {
		if n > 6 {
			return journal.Trial{}, context.Canceled
		}
		return quiet(k)(n, task)
	}
	if err := x.Run(t.Context()); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	var have Record
	for _, trial := range x.kept {
		if have.Trials = append(have.Trials, trial); trial.Role == journal.RoleSlice {
			have.Trials, have.Slices = have.Trials[:len(have.Trials)-1], append(have.Slices, trial)
		}
	}
	again := &knee{at: 3}
	y := again.execution(h, have)
	again.fake.answer = quiet(again)
	must.OK(t, y.Run(t.Context()))
	starts := map[int]int{}
	for _, trial := range append(have.Slices, y.kept...) {
		if trial.Start != nil {
			starts[*trial.Start]++
		}
	}
	if len(have.Slices) != 4 || starts[0] != 4 || starts[1] < 4 || len(starts) != 2 {
		t.Errorf("slices by start %v", starts)
	}
}

// Slices need a server that procfit loads, by values and at a rate that it chooses.
func TestWhatHasSlices(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"a batch program": func(s *Spec) { s.Target.URL = "" },
		"a grid":          func(s *Spec) { s.Budget = nil },
		"named values":    func(s *Spec) { s.Procs = Procs{Values: []*int{nil, ptr(2)}} },
		"a CPU limit":     func(s *Spec) { s.Quotas = []*float64{ptr(2.0)} },
		"a load command":  func(s *Spec) { s.Load.Command = "wrk" },
		"any program":     func(s *Spec) { s.Target.AnyProgram = true },
		"many values":     func(s *Spec) { s.Target.CPUs = nil },
		"gRPC":            func(s *Spec) { s.Target.URL = "h2c://127.0.0.1:1/" },
		"replicas":        func(s *Spec) { s.Replicas = []int{2} },
		"not asked":       func(s *Spec) { s.Slices = false },
	} {
		s := Default()
		s.Target.Command, s.Target.URL, s.Slices, s.Budget = []string{"server"}, "http://127.0.0.1:1/", true, &Budget{Goal: journal.GoalProven}
		s.Target.CPUs = []int{0, 1, 2}
		if !s.Plan(8, 1).Slices {
			t.Fatal("a server has none")
		}
		if change(&s); s.Plan(8, 1).Slices {
			t.Errorf("%s: has slices", name)
		}
	}
}

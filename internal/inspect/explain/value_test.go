package explain

import (
	"errors"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
)

func TestValue(t *testing.T) {
	subject := rule.NewSubject(machine(64, 20, "", 0))
	for policy, want := range map[string]int{"": 20, "fit": 20, "jvm": 20} {
		if n, err := New(subject, "", policy).Value(); n != want || err != nil {
			t.Errorf("%q: %d, %v", policy, n, err)
		}
	}
	o := machine(64, 20, "", 0)
	o.Expected = &rule.Expected{Procs: 7, LimitCPUs: new(20.0), CPUs: 64, Measured: "2026-01-31"}
	for policy, want := range map[string]int{"": 7, "fit": 20} {
		if n, err := New(rule.NewSubject(o), "", policy).Value(); n != want || err != nil {
			t.Errorf("with a measured value, %q: %d, %v", policy, n, err)
		}
	}
	if got := text(t, o, "", false); strings.Contains(got, "recommended") || !strings.Contains(got, "\n  expected         7  measured on ") || !strings.Contains(got, "\n  fit             20  ") {
		t.Error(got)
	}
	reserved := o
	reserved.Reserve = 3
	if n, err := New(rule.NewSubject(reserved), "", "").Value(); n != 17 || err != nil {
		t.Errorf("with a reserve next to a measured value: %d, %v", n, err)
	}
	if got := text(t, reserved, "", false); !strings.HasPrefix(got, "x will use GOMAXPROCS=20; it should be 17\n") || !strings.Contains(got, "\n  recommended     17  ") || strings.Contains(got, "PF060") {
		t.Error(got)
	}
	o.Facts.Limits[0].State, o.Facts.Limits[0].Error = facts.Unreadable, "no"
	for policy, want := range map[string]string{"": "whether the measured 7 still holds is not known", "fit": "7 is only an upper bound"} {
		if e := New(rule.NewSubject(o), "", policy); len(e.Unknown()) == 0 || e.Uncertain(7) != want {
			t.Errorf("a limit that cannot be read, %q: %q, so %s", policy, e.Unknown(), e.Uncertain(7))
		}
	}
	o.Live, o.LiveSource = new(7), "symbol"
	if got := text(t, o, "", false); !strings.HasPrefix(got, "x uses GOMAXPROCS=7; whether it should cannot be determined\n") {
		t.Error(got)
	}
	for _, e := range []Explanation{New(Nowhere(), "", ""), New(subject, "", "none")} {
		if n, err := e.Value(); n != 0 || !errors.Is(err, rule.ErrNoValue) {
			t.Errorf("%d, %v", n, err)
		}
	}
}

// TestReserve: what is left to others is printed wherever the number is.
func TestReserve(t *testing.T) {
	o := machine(64, 2.5, "", 0)
	o.Reserve = 0.5
	got := text(t, o, "", false)
	must.Say(t, got,
		"x will use GOMAXPROCS=3; it should be 2\n  the runtime of go1.26.1 chooses 3; its own cgroup allows 2.5 CPUs, 0.5 of them reserved for others\n",
		"0.5 CPUs reserved for others: 2.5 − 0.5",
		"PF001 warning: will use GOMAXPROCS=3, but the limit of /cg allows 2.5 CPUs, 0.5 of them reserved for others\n",
		"→ set GOMAXPROCS=2 in its environment, or call Set of github.com/procfit/procfit/maxprocs with Reserve(0.5)\n",
	)
	// What fits the rest is not too few.
	o = machine(4, 0, "3", 3)
	o.Reserve = 1
	if got := text(t, o, "", false); !strings.Contains(got, "x uses GOMAXPROCS=3, as it should\n") || strings.Contains(got, "PF0") {
		t.Error(got)
	}
	// The runtime's floor of 2 is no excuse where the limit is 2.
	o = machine(8, 2, "", 0)
	o.Reserve = 1
	if got := text(t, o, "", false); !strings.Contains(got, "PF001 warning") || strings.Contains(got, "the least that the runtime chooses") || !strings.Contains(got, "set GOMAXPROCS=1") {
		t.Error(got)
	}
}

// TestWhatIfForgets: a what-if about another value or limit does not report how the running
// program was throttled and waited for the disk.
func TestWhatIfForgets(t *testing.T) {
	limits := must.Get(ParseLimits("8"))(t)
	o := machine(64, 2, "", 2)
	o.Throttling = &rule.Throttling{Dir: "/cg", Throttling: facts.Throttling{Periods: 100, ThrottledPeriods: 40}}
	o.Faults = &rule.Faults{Held: 1.5}
	o.Shared, o.Together = true, &rule.Together{Limit: o.Facts.Limits[0], Programs: []rule.Sharer{{Name: "x", Procs: 2}, {Name: "y", Procs: 2}}}
	running := rule.NewSubject(o)
	for name, tc := range map[string]struct {
		whatIf  WhatIf
		reports bool
	}{
		"nothing":        {WhatIf{}, true},
		"only a reserve": {WhatIf{Reserve: 0.5}, true},
		"another limit":  {WhatIf{Limits: limits, LimitText: "8"}, false},
		"another value":  {WhatIf{Env: new("3")}, false},
	} {
		got := text(t, tc.whatIf.Apply(running).Observed, "", false)
		for _, word := range []string{"throttled by the limit of /cg", "waiting for the disk", "PF045"} {
			if strings.Contains(got, word) != tc.reports {
				t.Errorf("%s: %q\n%s", name, word, got)
			}
		}
	}
	few := WhatIf{Limits: limits, LimitText: "8", Env: new("3")}.Apply(running) // 3 of 8 CPUs that it does not share
	must.Say(t, text(t, few.Observed, "", false), "PF002")
}

// TestWhatIfOfAProgramThatSetsIt: neither another limit nor another environment is what such a program follows.
func TestWhatIfOfAProgramThatSetsIt(t *testing.T) {
	limits := must.Get(ParseLimits("1"))(t)
	o := machine(64, 2, "", 16)
	o.Custom = new(true)
	for name, w := range map[string]WhatIf{"limit": {Limits: limits, LimitText: "1"}, "environment": {Env: new("2")}} {
		got := text(t, w.Apply(rule.NewSubject(o)).Observed, "", false)
		if !strings.HasPrefix(got, "x may use another GOMAXPROCS than its runtime chooses; it should be ") || !strings.Contains(got, "its code seems to set a value of its own; ") || strings.Contains(got, "PF00") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

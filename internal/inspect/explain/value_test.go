package explain

import (
	"errors"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// TestSettle: what a program is started with. Its own choice, and a value that
// counts, are left alone.
func TestSettle(t *testing.T) {
	of := func(release string, o rule.Observed) rule.Observed {
		o.Facts.GoVersion = release
		return o
	}
	unread := of("", machine(8, 2.5, "", 0))
	unread.ProgramUnknown = "not a Go program"
	unread.NotGo = true
	with := machine(8, 2.5, "", 0)
	with.Automaxprocs = "v1.6.0"
	reserved := machine(8, 2.5, "", 0)
	reserved.Reserve = 0.5
	odd := of("go1.20", machine(8, 2, "", 0))
	odd.Facts.Limits[0].Fact = facts.Fact{State: facts.Malformed, Error: "cpu.max: lots"}
	for name, tc := range map[string]struct {
		observed rule.Observed
		policy   string
		force    bool
		procs    int
		why      string
		warning  string
	}{
		"a runtime that reads no limit":        {of("go1.20", machine(8, 2.5, "", 0)), "fit", false, 3, "fit chooses 3", ""},
		"one that does":                        {machine(8, 2.5, "", 0), "fit", false, 0, "the runtime of go1.26.1 chooses 3 by itself", ""},
		"but never goes below 2":               {machine(8, 0.5, "", 0), "fit", false, 1, "fit chooses 1", ""},
		"no limit":                             {of("go1.20", machine(8, 0, "", 0)), "fit", false, 0, "chooses 8 by itself", ""},
		"a value that counts":                  {of("go1.20", machine(8, 2, "4", 0)), "fit", false, 0, "GOMAXPROCS=4 is in the environment", ""},
		"the same, by force":                   {of("go1.20", machine(8, 2, "4", 0)), "fit", true, 2, "fit chooses 2", ""},
		"by force, what the runtime chooses":   {machine(8, 2, "4", 0), "fit", true, 2, "fit chooses 2", ""},
		"a value that does not":                {of("go1.20", machine(8, 2, "500m", 0)), "fit", false, 2, "fit chooses 2", `GOMAXPROCS="500m" in the environment is no`},
		"that, and the runtime chooses so":     {machine(8, 2, "500m", 0), "fit", false, 0, "by itself", `"500m"`},
		"+3 of a runtime that takes it":        {machine(8, 2, "+3", 0), "fit", false, 0, "GOMAXPROCS=3 is in the environment", ""},
		"+3 of one that does not":              {of("go1.20", machine(8, 2, "+3", 0)), "fit", false, 2, "fit chooses 2", `"+3"`},
		"a program that cannot be read":        {unread, "fit", false, 3, "fit chooses 3", ""},
		"automaxprocs in it":                   {with, "fit", false, 3, "fit chooses 3", ""},
		"a reserve":                            {reserved, "fit", false, 2, "fit chooses 2", ""},
		"the newest runtime's, for an old one": {of("go1.20", machine(8, 0.5, "", 0)), "go", false, 2, "go chooses 2", ""},
		"automaxprocs'":                        {of("go1.20", machine(8, 2.5, "", 0)), "automaxprocs", false, 2, "automaxprocs chooses 2", ""},
		"nothing known":                        {Nowhere().Observed, "fit", false, 0, "its runtime chooses", "neither its affinity nor a limit is known"},
		"a limit that makes no sense":          {odd, "fit", false, 0, "chooses 8 by itself", "8 is an upper bound"},
	} {
		s := Settle(tc.observed, tc.policy, tc.force)
		warnings := strings.Join(s.Warnings, "\n")
		if s.Procs != tc.procs || !strings.Contains(s.Why, tc.why) || !strings.Contains(warnings, tc.warning) || (warnings == "") != (tc.warning == "") {
			t.Errorf("%s: %+v, want %d, why %q, warning %q", name, s, tc.procs, tc.why, tc.warning)
		}
		if (s.Procs > 0) && len(s.Steps) == 0 {
			t.Errorf("%s: no step to %d", name, s.Procs)
		}
	}
}

func TestValue(t *testing.T) {
	subject := rule.NewSubject(machine(64, 20, "", 0))
	for policy, want := range map[string]int{"": 20, "fit": 20, "jvm": 20} {
		if n, err := New(subject, "", policy).Value(); n != want || err != nil {
			t.Errorf("%q: %d, %v", policy, n, err)
		}
	}
	for _, e := range []Explanation{New(Nowhere(), "", ""), New(subject, "", "none")} {
		if n, err := e.Value(); n != 0 || !errors.Is(err, errNoValue) {
			t.Errorf("%d, %v", n, err)
		}
	}
}

// TestReserve: what is left to others is told wherever the number is.
func TestReserve(t *testing.T) {
	o := machine(64, 2.5, "", 0)
	o.Reserve = 0.5
	got := text(t, o, "", false)
	for _, want := range []string{
		"x will use GOMAXPROCS=3; it should be 2\n  the runtime of go1.26.1 chooses 3; its own cgroup allows 2.5 CPUs, 0.5 of them reserved for others\n",
		"0.5 CPUs reserved for others: 2.5 − 0.5",
		"PF001 warning: will use GOMAXPROCS=3, but the limit of /cg allows 2.5 CPUs, 0.5 of them reserved for others\n",
		"→ set GOMAXPROCS=2 in its environment, or call Set of github.com/procfit/procfit/maxprocs with Reserve(0.5)\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	// What fits the rest is not too few.
	o = machine(4, 0, "3", 3)
	o.Reserve = 1
	if got := text(t, o, "", false); !strings.Contains(got, "x uses GOMAXPROCS=3, as it should\n") || strings.Contains(got, "PF0") {
		t.Error(got)
	}
	// The runtime's floor of 2 is no excuse where the limit is 2.
	o = machine(8, 2, "", 0)
	o.Reserve = 1
	if got := text(t, o, "", false); !strings.Contains(got, "PF001 warning") || strings.Contains(got, "never below 2") || !strings.Contains(got, "set GOMAXPROCS=1") {
		t.Error(got)
	}
}

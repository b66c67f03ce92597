package rule

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/maxprocs/facts"
)

// TestSettle: what a program is started with. Its own choice, and a value that
// counts, are left alone.
func TestSettle(t *testing.T) {
	nowhere := machine(0)
	nowhere.Facts.Affinity = facts.Fact{State: facts.Absent}
	unread := machine(8, 2.5).gover("")
	unread.ProgramUnknown = "not a Go program"
	unread.NotGo = true
	with := machine(8, 2.5)
	with.Automaxprocs = "v1.6.0"
	reserved := machine(8, 2.5)
	reserved.Reserve = 0.5
	odd := machine(8, 2).gover("go1.20")
	odd.Facts.Limits[0].Fact = facts.Fact{State: facts.Malformed, Error: "cpu.max: lots"}
	for name, tc := range map[string]struct {
		observed Observed
		policy   string
		force    bool
		procs    int
		why      string
		warning  string
	}{
		"a runtime that reads no limit":        {machine(8, 2.5).gover("go1.20"), "fit", false, 3, "fit chooses 3", ""},
		"one that does":                        {machine(8, 2.5), "fit", false, 0, "the runtime of go1.26.1 chooses 3 by itself", ""},
		"but never goes below 2":               {machine(8, 0.5), "fit", false, 1, "fit chooses 1", ""},
		"no limit":                             {machine(8).gover("go1.20"), "fit", false, 0, "chooses 8 by itself", ""},
		"a value that counts":                  {machine(8, 2).withEnv("4").gover("go1.20"), "fit", false, 0, "GOMAXPROCS=4 is in the environment", ""},
		"the same, by force":                   {machine(8, 2).withEnv("4").gover("go1.20"), "fit", true, 2, "fit chooses 2", ""},
		"by force, what the runtime chooses":   {machine(8, 2).withEnv("4"), "fit", true, 2, "fit chooses 2", ""},
		"a value that does not":                {machine(8, 2).withEnv("500m").gover("go1.20"), "fit", false, 2, "fit chooses 2", `GOMAXPROCS="500m" in the environment is no`},
		"that, and the runtime chooses so":     {machine(8, 2).withEnv("500m"), "fit", false, 0, "by itself", `"500m"`},
		"+3 of a runtime that takes it":        {machine(8, 2).withEnv("+3"), "fit", false, 0, "GOMAXPROCS=3 is in the environment", ""},
		"+3 of one that does not":              {machine(8, 2).withEnv("+3").gover("go1.20"), "fit", false, 2, "fit chooses 2", `"+3"`},
		"a program that cannot be read":        {unread, "fit", false, 3, "fit chooses 3", ""},
		"automaxprocs in it":                   {with, "fit", false, 3, "fit chooses 3", ""},
		"a reserve":                            {reserved, "fit", false, 2, "fit chooses 2", ""},
		"the newest runtime's, for an old one": {machine(8, 0.5).gover("go1.20"), "go", false, 2, "go chooses 2", ""},
		"automaxprocs'":                        {machine(8, 2.5).gover("go1.20"), "automaxprocs", false, 2, "automaxprocs chooses 2", ""},
		"nothing known":                        {nowhere, "fit", false, 0, "its runtime chooses", "neither its affinity nor a limit is known"},
		"a limit that makes no sense":          {odd, "fit", false, 0, "chooses 8 by itself", "8 is an upper bound"},
	} {
		s := Decide(tc.observed, tc.policy, tc.force)
		warnings := strings.Join(s.Warnings, "\n")
		if s.Procs != tc.procs || !strings.Contains(s.Why, tc.why) || !strings.Contains(warnings, tc.warning) || (warnings == "") != (tc.warning == "") {
			t.Errorf("%s: %+v, want %d, why %q, warning %q", name, s, tc.procs, tc.why, tc.warning)
		}
		if (s.Procs > 0) && len(s.Steps) == 0 {
			t.Errorf("%s: no step to %d", name, s.Procs)
		}
	}
}

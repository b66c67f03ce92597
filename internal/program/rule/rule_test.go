package rule

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/procfit/procfit/maxprocs/facts"
)

func TestRules(t *testing.T) {
	for _, tc := range fixtures() {
		t.Run(tc.rule+" "+tc.name, func(t *testing.T) {
			var got Finding
			for _, f := range Judge(NewSubject(tc.subject)) {
				if f.Rule == tc.rule {
					got = f
				}
			}
			if (tc.want == "") != (got.Message == "") || !strings.Contains(got.Message, tc.want) || !strings.Contains(got.Fix+".\n"+got.Now, tc.fix) || got.Severity != tc.severity {
				t.Errorf("%s %q, fix %q; want %s %q, fix %q", got.Severity, got.Message, got.Fix, tc.severity, tc.want, tc.fix)
			}
			if (got.Message == "") != (got.Fix == "") {
				t.Errorf("a finding needs a message and a fix: %+v", got)
			}
		})
	}
}

// TestBehind: a call would end what an idle runtime is about to do by itself.
func TestBehind(t *testing.T) {
	for want, o := range map[string]Observed{
		"":                 machine(1).live(2).counted(2).custom(false).process(),
		"procfit set 42 1": machine(1).live(2).counted(2).custom(false).godebug("updatemaxprocs=0").process(),
		"procfit set 42 2": machine(64, 2).live(64).custom(false).process(), // or it does not see its limit
	} {
		if got := NewSubject(o).now(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestEachRuleIsDocumentedAndTested demands of every rule its page, a fixture
// that fires, and one that is quiet.
func TestEachRuleIsDocumentedAndTested(t *testing.T) {
	id := regexp.MustCompile(`^PF[0-9]{3}$`)
	last := ""
	for _, r := range All() {
		if !id.MatchString(r.ID) || r.ID <= last {
			t.Errorf("%q after %q: want PFnnn, ascending", r.ID, last)
		}
		last = r.ID
		if r.Title == "" || r.Why == "" || r.Fix == "" || r.Since == "" || (r.Check == nil) != (r.By != "") || r.Severity.Rank() < 0 {
			t.Errorf("%s: something is missing: %+v", r.ID, r)
		}
		fires, quiet := 0, 0
		for _, f := range fixtures() {
			switch {
			case f.rule != r.ID:
			case f.want == "":
				quiet++
			default:
				fires++
			}
		}
		if r.By == "" && (fires == 0 || quiet == 0) {
			t.Errorf("%s: %d fixtures fire and %d are quiet, want one of each", r.ID, fires, quiet)
		}
		if found, ok := Find(r.ID); !ok || found.Title != r.Title {
			t.Errorf("Find(%s): %v", r.ID, ok)
		}
	}
	for id := range checks {
		if r, ok := Find(id); !ok || r.By != "" {
			t.Errorf("the check of %s has no page of a rule that judges subjects", id)
		}
		if _, err := pages.ReadFile("pages/" + id + ".md"); err != nil {
			t.Error(err)
		}
	}
	if _, ok := Find("PF000"); ok {
		t.Error("there is a PF000")
	}
}

func TestJudgeOrdersAndPlaces(t *testing.T) {
	s := machine(64, 20, 1.5).withEnv("20m").live(20)
	s.PID = 42
	var got []string
	for _, f := range Judge(NewSubject(s)) {
		if f.PID != 42 {
			t.Errorf("no place in %+v", f)
		}
		got = append(got, f.Rule)
	}
	if fmt.Sprint(got) != "[PF003 PF001 PF008]" {
		t.Errorf("findings %v, want the error first", got)
	}
	got = nil
	for _, f := range Judge(NewSubject(machine(64, 0, 4).live(64).held(1, 100, 50))) {
		got = append(got, f.Rule)
	}
	if fmt.Sprint(got) != "[PF011 PF001 PF008]" {
		t.Errorf("findings %v, want what happened first", got)
	}
	if f := Judge(NewSubject(machine(8, 2).live(2))); f == nil || len(f) != 0 {
		t.Errorf("findings %v of a program that is right, want an empty list", f)
	}
}

func TestSetBy(t *testing.T) {
	for _, tc := range []struct {
		subject Observed
		want    SetBy
	}{
		{machine(8, 2).live(2), SetByAuto},
		{machine(8, 2), SetByAuto},
		{machine(8, 2).withEnv("3").live(3), SetByEnv},
		{machine(8, 2).withEnv("3"), SetByEnv},
		{machine(8, 2).withEnv("3").live(4), SetByCode},
		{machine(8, 2).withEnv("3").live(4).neverSets(), SetByOutside},
		{machine(8, 2).live(5).custom(true).neverSets(), SetByOutside},
		{machine(8, 2).withEnv("3").live(3).neverSets(), SetByEnv},
		{machine(8, 2).live(5).neverSets(), SetByUnknown},
		{machine(8, 2.5).automaxprocs("v1.6.0").live(2).neverSets(), SetByCode},
		{machine(8, 2).withEnv("x").live(2), SetByAuto},
		{machine(8, 2).live(5), SetByUnknown},
		{machine(8, 2.5).automaxprocs("v1.6.0").live(2), SetByCode},
		{machine(8, 2).automaxprocs("v1.6.0").live(2), SetByUnknown},
		{machine(8, 2).automaxprocs("v1.6.0"), SetByUnknown},
		{machine(8, 2).hidden(), SetByUnknown},
		{machine(8, 2).hiddenEnv().live(2), SetByUnknown},
		{machine(1).gover("go1.21.13").counted(2).live(2), SetByAuto},
		{machine(2).gover("go1.21.13").counted(2).live(5), SetByCode},
		{machine(8, 2).counted(8).live(5), SetByUnknown},
		{machine(8, 2).hiddenEnv().live(2).custom(false), SetByAuto},
		{machine(8, 2).hiddenEnv().live(2).custom(true), SetByUnknown},
		{machine(8, 2).live(5).custom(false), SetByAuto},
		{machine(8, 2).live(5).custom(true), SetByCode},
		{machine(8, 2).live(2).custom(true), SetByCode},
		{machine(8, 2).withEnv("3").live(3).custom(true), SetByEnv},
		{machine(8, 2).automaxprocs("v1.6.0").live(2).custom(true), SetByCode},
	} {
		if got := NewSubject(tc.subject).SetBy; got != tc.want {
			t.Errorf("%+v: %s, want %s", tc.subject, got, tc.want)
		}
	}
}

// FuzzJudge judges what no machine looks like: no panic, and every finding says
// what and what to do.
func FuzzJudge(f *testing.F) {
	f.Add(64, 20.0, 1.5, "3", "go1.26.1", "1.20", "containermaxprocs=0", 20, byte(0))
	f.Add(0, 0.0, -1.0, "", "devel go1.28-abc X:y", "", "", 0, byte(7))
	states := []facts.State{facts.Known, facts.NoLimit, facts.Absent, facts.Unreadable, facts.Malformed, ""}
	f.Fuzz(func(t *testing.T, cpus int, own, above float64, env, version, language, godebug string, live int, bits byte) {
		s := machine(cpus, own, above).gover(version).lang(language).baked(godebug).withEnv(env)
		s.Facts.Limits[bits%2].State = states[int(bits)%len(states)]
		s.Facts.Env.State = states[int(bits/2)%len(states)]
		s.Facts.Affinity.State = states[int(bits/4)%len(states)]
		if bits&8 != 0 {
			s = s.live(live)
		}
		if bits&16 != 0 {
			s = s.automaxprocs("v1.6.0")
		}
		if bits&64 != 0 {
			s = s.custom(bits&1 != 0).held(int(bits)%2, int64(cpus), int64(live))
		}
		if bits&32 != 0 {
			s.Facts.Limits = nil
		}
		for _, f := range Judge(NewSubject(s)) {
			if f.Message == "" || f.Fix == "" || f.Severity.Rank() < 0 {
				t.Errorf("%+v of %+v", f, s)
			}
		}
	})
}

package rule

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/procfit/procfit/maxprocs/facts"
)

// TestSeveral: each limit that could not be read is a finding of its own.
func TestSeveral(t *testing.T) {
	s := machine(8, 2, 3).state(facts.Malformed)
	s.Facts.Limits[1].State, s.Facts.Limits[1].Error = facts.Unreadable, "permission denied"
	found := Judge(NewSubject(s))
	if len(found) != 2 || found[0].Rule != "PF009" || found[1].Rule != "PF009" || !strings.Contains(found[0].Message, "/cg/pod/app") || !strings.Contains(found[1].Message, "/cg/pod is") {
		t.Errorf("%+v", found)
	}
	if ids := IDs(found); len(ids) != 1 {
		t.Errorf("rules %v", ids)
	}
}

// TestEdit: where the go line's place is known, the fix is an edit of it.
func TestEdit(t *testing.T) {
	s := Observed{Place: Place{Path: "svc/go.mod", Line: 3}, Language: "1.24", Facts: facts.Facts{GoVersion: "go1.26.1"}}
	found := Judge(NewSubject(s))
	if len(found) != 1 || found[0].Edit == nil || *found[0].Edit != (Edit{"svc/go.mod", 3, "go 1.24", "go 1.25"}) {
		t.Fatalf("%+v", found)
	}
	b, err := json.Marshal(found[0])
	if err != nil || !strings.HasSuffix(string(b), `"edit":{"path":"svc/go.mod","line":3,"old":"go 1.24","new":"go 1.25"},"path":"svc/go.mod","line":3}`) {
		t.Errorf("%s, %v", b, err)
	}
	s.Path = "svc/server"
	if found := Judge(NewSubject(s)); len(found) != 1 || found[0].Edit != nil {
		t.Errorf("a program is not edited: %+v", found)
	}
}

func TestNoGoProgram(t *testing.T) {
	s := machine(8, 2).withEnv("999m")
	s.NotGo, s.ProgramUnknown = true, "not a Go program"
	if found := Judge(NewSubject(s)); len(found) > 0 {
		t.Errorf("a program that has no GOMAXPROCS is judged: %+v", found)
	}
}

func TestWorst(t *testing.T) {
	list := func(all ...Severity) (findings []Finding) {
		for _, s := range all {
			findings = append(findings, Finding{Severity: s})
		}
		return findings
	}
	for _, tc := range []struct {
		a, b []Finding
		want int
	}{
		{list(Info, Error), list(Warning), -1},
		{list(Info), list(Warning, Info), 1},
		{list(Info), nil, -1},
		{nil, nil, 0},
	} {
		if got := CompareWorst(tc.a, tc.b); got != tc.want {
			t.Errorf("%v and %v: %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
	if w := Worst(list(Info, Warning)); w != Warning || Worst(nil) != "" {
		t.Errorf("worst %q, of none %q", w, Worst(nil))
	}
}

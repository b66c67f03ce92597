package cli

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/inspect/explain"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
)

// TestLendable: a value is not lent if it is not known what is to be given back: the number, and
// from Go 1.25 on whether the runtime follows its limit.
func TestLendable(t *testing.T) {
	yes := true
	for _, tt := range []struct {
		goVersion string
		custom    *bool
		before    int
		says      string // "": it can be lent
	}{
		{"go1.26.1", &yes, 4, ""},
		{"go1.26.1", nil, 4, "whether its runtime follows"},
		{"go1.24.1", nil, 4, ""},
		{"go1.24.1", nil, 0, "the value that it uses now"},
	} {
		o := rule.Observed{Facts: facts.Facts{GoVersion: tt.goVersion}, Custom: tt.custom}
		err := valueChange{subject: rule.NewSubject(o), before: steer.Value{Procs: tt.before}, value: steer.Value{Procs: 2}}.lendable("--for", "")
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// TestGoodIsKept: a value that ps calls ok is not changed to the recommended one, but to any that is named.
func TestGoodIsKept(t *testing.T) {
	limits := must.Get(explain.ParseLimits("2.5"))(t)
	for _, tt := range []struct {
		live   int
		shared bool // with other Go programs under its limit
		word   string
		kept   bool
	}{
		{2, false, setRecommended, true},
		{1, false, setRecommended, false},
		{1, true, setRecommended, true},
		{4, true, setRecommended, false},
		{2, false, "3", false},
		{1, true, "3", false},
	} {
		o := rule.Observed{Facts: facts.Facts{GoVersion: "go1.26.1", Affinity: facts.Fact{State: facts.Known, CPUs: 8}, Limits: limits}, Live: &tt.live, Shared: tt.shared}
		c := valueChange{subject: rule.NewSubject(o), before: steer.Value{Procs: tt.live}, value: steer.Value{Procs: 3}}
		if says := c.already(tt.word); (says != "") != tt.kept {
			t.Errorf("%+v: %q", tt, says)
		}
	}
}

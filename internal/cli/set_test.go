package cli

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/maxprocs/facts"
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

package trial

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
)

func TestLogNamesDiffer(t *testing.T) {
	half := 0.5
	seen := map[string]bool{}
	for _, setting := range []journal.Setting{{Label: "1", Replicas: 2}, {Label: "1", Replicas: 2, QuotaCPUs: &half}, {Label: "1", Replicas: 2, GoVersion: "1.24"}, {Label: "1", Replicas: 4}} {
		for _, role := range []journal.Role{journal.RolePilot, journal.RoleMeasure} {
			for i := range 4 {
				task := plan.Task{Setting: setting, Role: role, Order: len(seen) / 4, Tried: i / 2}
				name := NewTask(journal.OriginLocal, plan.Default(), task, nil, nil).LogName(i % 2)
				if seen[name] || strings.ContainsAny(name, "/ ") {
					t.Errorf("%+v: %q again, or no file name", task, name)
				}
				seen[name] = true
			}
		}
	}
}

func TestLogsProcs(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "listening on :80\n": false, "maxprocs: Updating GOMAXPROCS=2\n": true, `{"msg":"start","max_procs":2}`: true,
		strings.Repeat("x", startupBytes) + "gomaxprocs 2": false,
	} {
		if got := logsProcs(load.Output{Head: []byte(text)}); *got != want {
			t.Errorf("%.40q: %v", text, *got)
		}
	}
}

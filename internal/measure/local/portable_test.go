//go:build portable || !linux

package local

import (
	"os"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// A trial without what only Linux has: the portable engine, start and stop measure
// throughput and latency, nothing is read of the program, and that is reported once.
func TestPortableTrial(t *testing.T) {
	self := must.Get(os.Executable())(t)
	s := plan.Default()
	s.Target.Command = []string{self, serverArgument, "127.0.0.1:" + plan.PortPlaceholder}
	s.Target.URL, s.Target.Grace = "http://127.0.0.1:"+plan.PortPlaceholder+"/", 100*time.Millisecond
	s.Load.Stretch, s.Load.Duration, s.Load.Warmup, s.Load.Connections = false, 400*time.Millisecond, 0, 4
	r := must.Get(New(s, Config{Environ: os.Environ(), CreateLog: logsIn(t.TempDir())}))(t)
	defer r.Close()
	said := 0
	tell := func(a plan.Activity) {
		if a.Step == plan.StepUnseen {
			said++
		}
	}
	setting := journal.Setting{Label: "1", Procs: new(1), Replicas: 1}
	must.OK(t, r.Prepare(t.Context(), journal.Plan{Settings: []journal.Setting{setting}}, tell))
	rate := 100.0
	trial, err := r.Run(t.Context(), plan.Task{Setting: setting, RatePerSecond: &rate}, tell)
	if err != nil || !trial.Valid {
		t.Fatalf("%v, %s %q", err, trial.InvalidCode, trial.InvalidReason)
	}
	if trial.ThroughputPerSecond == nil || *trial.ThroughputPerSecond < 100 || trial.LatencySeconds == nil {
		t.Errorf("throughput %v, latency %v", trial.ThroughputPerSecond, trial.LatencySeconds)
	}
	for _, p := range trial.Phases {
		if p.Engine != "portable" {
			t.Errorf("the %s loop ran on the engine %q", p.Mode, p.Engine)
		}
	}
	if trial.CPUSeconds != nil || trial.HostUse != nil || len(trial.ObservedProcs) != 1 || trial.ObservedProcs[0] != nil {
		t.Errorf("CPU time %v, host %v, GOMAXPROCS %v: none of these can be read", trial.CPUSeconds, trial.HostUse, trial.ObservedProcs)
	}
	job := job(self, "-test.run", "^$")
	job.Target.RunFor = 0
	if trial, err := prepared(t, job, Config{}, unset).Run(t.Context(), plan.Task{Setting: unset}, nil); err != nil || !trial.Valid || trial.HostUse != nil {
		t.Errorf("a batch program: %v, %s %q, host %v", err, trial.InvalidCode, trial.InvalidReason, trial.HostUse)
	}
	if said != 1 {
		t.Errorf("said %d times what is missing, want once", said)
	}
}

package local

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/program/target"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// standing starts a server of this test binary as somebody else would, and returns it
// and its port.
func standing(t *testing.T) (*exec.Cmd, string) {
	t.Helper()
	ports := must.Get(target.FreePorts(1))(t)
	addr := target.ExpandPort([]string{"127.0.0.1:{port}"}, ports[0])[0]
	self := must.Get(os.Executable())(t)
	cmd := exec.Command(self, liarArgument, addr, "none")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=3")
	must.OK(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for until := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return cmd, strings.TrimPrefix(addr, "127.0.0.1")
		}
		if time.Now().After(until) {
			t.Fatal("the server does not listen")
		}
	}
}

// A server that runs already is offered the rate, read and left as it was; once it has
// ended there is nothing to measure.
func TestAttached(t *testing.T) {
	cmd, port := standing(t)
	a := must.Get(Attach(cmd.Process.Pid))(t)
	if a.PID != cmd.Process.Pid || a.Procs == nil || *a.Procs != 3 {
		t.Errorf("found %+v, want process %d with 3", a, cmd.Process.Pid)
	}
	s := plan.Default()
	s.Target.Attach, s.Target.URL = a, "http://127.0.0.1"+port+"/"
	s.Load.Rate, s.Load.Connections, s.Load.Duration, s.Load.Stretch, s.Load.Warmup = 100, 4, 300*time.Millisecond, false, 50*time.Millisecond
	must.OK(t, s.Validate())
	wanted := s.Plan(2, 1)
	if len(wanted.Settings) != 1 || len(wanted.AA) != 0 || wanted.Pilots != 0 || *wanted.Settings[0].Procs != 3 {
		t.Fatalf("plan %+v", wanted)
	}
	r := prepared(t, s, Config{}, wanted.Settings...)
	task := plan.Task{Setting: wanted.Settings[0], RatePerSecond: &s.Load.Rate}
	trial, err := answered(t.Context(), r, task, nil)
	if err != nil || !trial.Valid {
		t.Fatalf("%v, %s %q", err, trial.InvalidCode, trial.InvalidReason)
	}
	if len(trial.Phases) != 1 || trial.Phases[0].Mode != journal.ModeOpen || trial.Phases[0].Requests > 31 {
		t.Errorf("%d phases, the first %+v: want an open loop of 30 requests", len(trial.Phases), trial.Phases[0])
	}
	if len(trial.ObservedProcs) != 1 || trial.ObservedProcs[0] == nil || *trial.ObservedProcs[0] != 3 || trial.CPUSeconds == nil {
		t.Errorf("observed %v, CPU time %v", trial.ObservedProcs, trial.CPUSeconds)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", "127.0.0.1"+port); err != nil {
		t.Errorf("it is gone after the trial: %v", err)
	} else {
		c.Close()
	}
	cmd.Process.Kill()
	cmd.Wait()
	if _, err := r.Run(t.Context(), task, nil); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("after its end: %v", err)
	}
}

// The CPU limit around it is known before the first trial.
func TestAttachedUnderALimit(t *testing.T) {
	group := must.Get(cgroups(t).New())(t)
	t.Cleanup(func() { group.Remove() })
	cmd, _ := standing(t)
	must.OK(t, group.SetQuota(0.5))
	must.OK(t, os.WriteFile(group.ProcsFile(), []byte(strconv.Itoa(cmd.Process.Pid)), 0))
	if a := must.Get(Attach(cmd.Process.Pid))(t); a.LimitCPUs != 0.5 {
		t.Errorf("%+v, want a limit of 0.5", a)
	}
}

package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/host/topology"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// spin is a shell that computes for some tenths of a second of CPU time.
func spin() plan.Spec {
	return job("sh", "-c", "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done")
}

// What other programs use is counted, and neither the target nor procfit is among
// them.
func TestOtherPrograms(t *testing.T) {
	if len(topology.Allowed()) == 0 {
		need.Skip(t, "needs an affinity that can be read")
	}
	other := exec.Command("sh", "-c", "while :; do :; done")
	must.OK(t, other.Start())
	defer func() {
		other.Process.Kill()
		other.Wait()
	}()
	s := spin()
	s.Target.RunFor = 1e9
	trial := valid(t, s)
	h := trial.HostUse
	if h == nil || h.OtherCPUSeconds == nil || h.TargetCPUs != len(topology.Allowed()) {
		t.Fatalf("nothing is known of other programs: %+v", h)
	}
	all := float64(h.TargetCPUs) * trial.DurationSeconds
	if got := *h.OtherCPUSeconds; got < 0.2*trial.MeasuredSeconds || got > all-trial.CPUSeconds.Total()+0.2 {
		t.Errorf("others used %.2f s in %.2f s on %d CPUs, the target %.2f s", got, trial.MeasuredSeconds, h.TargetCPUs, trial.CPUSeconds.Total())
	}
}

// What prepares a run does not hide them: its CPU time is not that of the target's CPUs.
func TestPrepareHidesNobody(t *testing.T) {
	cpus := topology.Allowed()
	if len(cpus) < 2 {
		need.Skip(t, "needs two CPUs")
	}
	other := must.Get(supervisor.Start(t.Context(), supervisor.Spec{Command: []string{"sh", "-c", "while :; do :; done"}, CPUs: cpus[:1]}))(t)
	defer other.Stop(0)
	s := job("sleep", "0.7")
	s.Target.CPUs = cpus[:1]
	s.Target.Prepare = []string{"sh", "-c", "for n in 1 2 3 4 5 6 7 8; do (for m in 1 2; do " + spin().Target.Command[2] + "; done) & done; wait"}
	trial := valid(t, s)
	if h := trial.HostUse; h == nil || h.OtherCPUSeconds == nil || *h.OtherCPUSeconds < 0.2*trial.MeasuredSeconds {
		t.Errorf("%+v in %.2f s", h, trial.MeasuredSeconds)
	}
}

// A target's CPUs that have no line in /proc/stat, as in some containers, are not counted: that is a warning.
func TestUncountedCPUs(t *testing.T) {
	r := prepared(t, job("true"), Config{}, unset).(*runner)
	r.cpus = []int{4095}
	trial, err := r.Run(t.Context(), plan.Task{Setting: unset}, nil)
	if err != nil || !trial.Valid || trial.HostUse != nil {
		t.Fatalf("%v, %s %q, %+v", err, trial.InvalidCode, trial.InvalidReason, trial.HostUse)
	}
	if !slices.ContainsFunc(trial.Warnings, func(w journal.Warning) bool {
		return w.Code == journal.WarnCounters && strings.Contains(w.Detail, "CPU 4095")
	}) {
		t.Errorf("%+v", trial.Warnings)
	}
}

// Children that start and end while a server is measured are the server's, and not other programs.
func TestShortLivedChildren(t *testing.T) {
	one := "sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done'"
	p := must.Get(supervisor.Start(t.Context(), supervisor.Spec{Command: []string{"sh", "-c", "while :; do " + one + "; done"}, Env: os.Environ()}))(t)
	defer p.Stop(0)
	of := prepared(t, job("true"), Config{}, unset).(*runner)
	r := &run{runner: of, Task: trial.NewTask(journal.OriginLocal, of.spec, plan.Task{Setting: unset}, nil, nil)}
	f := fleet{{Process: p}}
	before := observe.TreeCPU(f.pids())
	c, used := r.count(f, nil), time.Duration(0)
	for used < 300*time.Millisecond { // for as long as a busy machine takes
		time.Sleep(10 * time.Millisecond)
		used = observe.TreeCPU(f.pids()) - before
	}
	if u := c.end(0); u == nil || u.CPUSeconds == nil || u.CPUSeconds.Total() < 0.8*used.Seconds() {
		t.Errorf("%+v, but they used %v", u, used)
	}
}

// The peak of a short run's memory is known, though nobody looked then.
func TestPeakOfAShortRun(t *testing.T) {
	trial := valid(t, job("sh", "-c", "sleep 0.5; exec dd if=/dev/zero of=/dev/null bs=128M count=1 2>/dev/null"))
	if trial.Memory == nil || trial.Memory.PeakRSSBytes < 128<<20 {
		t.Errorf("memory %+v", trial.Memory)
	}
}

// A limit around the whole session, which no setting set, shows in the trial.
func TestOuterLimit(t *testing.T) {
	parent := cgroups(t)
	group := must.Get(parent.New())(t)
	t.Cleanup(func() { group.Remove() })
	must.OK(t, group.SetQuota(0.1))
	must.OK(t, group.SetShares(1<<18)) // else a busy machine gives it less than that
	self := []byte(strconv.Itoa(os.Getpid()))
	must.OK(t, os.WriteFile(group.ProcsFile(), self, 0))
	t.Cleanup(func() { os.WriteFile(filepath.Join(parent.Dir(), "cgroup.procs"), self, 0) })
	trial := valid(t, spin())
	if trial.Cgroup != nil {
		t.Errorf("the setting has no quota, and yet an accounting of one: %+v", trial.Cgroup)
	}
	for _, l := range trial.OuterLimits {
		if l.Group == group.Dir() {
			if l.CPUs != 0.1 || l.Periods == 0 || l.ThrottledPeriods == 0 {
				t.Errorf("%+v, want that 0.1 CPUs throttled", l)
			}
			return
		}
	}
	t.Errorf("the limit of %s is not in %+v", group.Dir(), trial.OuterLimits)
}

// They are warned of before the first trial.
func TestLookAround(t *testing.T) {
	var others []*exec.Cmd
	for range topology.Allowed() {
		c := exec.Command("sh", "-c", "while :; do :; done")
		must.OK(t, c.Start())
		others = append(others, c)
	}
	defer func() {
		for _, c := range others {
			c.Process.Kill()
			c.Wait()
		}
	}()
	r := must.Get(New(job("true"), Config{}))(t)
	defer r.Close()
	var told plan.Others
	if err := r.Prepare(t.Context(), journal.Plan{}, func(a plan.Activity) {
		if a.Step == plan.StepOthers {
			told = a.Others
		}
	}); err != nil {
		t.Fatal(err)
	}
	if share := told.CPUs / told.OfCPUs; !(share >= 0.5 && share <= 1.2) {
		t.Errorf("procfit reports that other programs use %.2f of the CPUs, want all of them", share)
	}
	for _, c := range others {
		if least := told.Busiest[len(told.Busiest)-1].CPUs; least > 0.05 {
			continue // others yet leave this one less than that
		}
		if !slices.ContainsFunc(told.Busiest, func(u observe.Used) bool { return u.PID == c.Process.Pid && u.Name == "sh" }) {
			t.Errorf("%d is not among %+v", c.Process.Pid, told.Busiest)
		}
	}
}

package local

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/host/topology"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// threadsOn are the CPUs of every thread of a process, as lists, each once.
func threadsOn(t *testing.T, pid int) (lists []string) {
	t.Helper()
	for _, thread := range must.Get(os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)))(t) {
		id := must.Get(strconv.Atoi(thread.Name()))(t)
		var set unix.CPUSet
		if unix.SchedGetaffinity(id, &set) != nil {
			continue // it has ended
		}
		var cpus []int
		for n := range len(set) * 64 {
			if set.IsSet(n) {
				cpus = append(cpus, n)
			}
		}
		if l := cpuset.Format(cpus); !slices.Contains(lists, l) {
			lists = append(lists, l)
		}
	}
	return lists
}

// While a trial runs no thread of procfit is on a CPU of the target, nor the target on
// one of the load's; afterwards procfit is where it was. The CPUs are chosen by what
// the load costs.
func TestApart(t *testing.T) {
	all := topology.Allowed()
	if len(all) < 2 {
		need.Skip(t, "needs two CPUs")
	}
	spec := overheadSpec(t)
	runner, task := overheadRunner(t, spec)
	split, err := runner.(plan.Arranger).Arrange(t.Context(), spec.Plan(float64(len(all)), 1), nil)
	for tries := 0; err == nil && split == nil && tries < 4; tries++ { // other programs may have spoiled its trials
		split, err = runner.(plan.Arranger).Arrange(t.Context(), spec.Plan(float64(len(all)), 1), nil)
	}
	if err != nil || split == nil {
		t.Fatalf("%v, %v: the CPUs were not split", split, err)
	}
	if s := split.Sizing; s == nil || s.RequestsPerSecond < 10 || s.CPUSecondsPerRequest < 1e-7 || s.CPUSecondsPerRequest > 0.1 {
		t.Errorf("split by %+v", s)
	}
	if both := slices.Sorted(slices.Values(slices.Concat(split.Target, split.Load))); !slices.Equal(both, all) {
		t.Fatalf("target %v and load %v are not all of %v", split.Target, split.Load, all)
	}
	var during []string
	var servers [][]string
	trial, err := answered(t.Context(), runner, task, func(a plan.Activity) {
		if a.Step != plan.StepClosedLoop {
			return
		}
		during, servers = threadsOn(t, os.Getpid()), nil
		for _, pid := range listeners(t) {
			servers = append(servers, threadsOn(t, pid))
		}
	})
	if err != nil || !trial.Valid {
		t.Fatalf("%v %s", err, trial.InvalidReason)
	}
	if want := cpuset.Format(split.Load); !slices.Equal(during, []string{want}) {
		t.Errorf("procfit ran on CPUs %v beside the target, want on %s alone", during, want)
	}
	if want := cpuset.Format(split.Target); len(servers) != 1 || !slices.Equal(servers[0], []string{want}) {
		t.Errorf("the target ran on %v, want one on %s", servers, want)
	}
	if after := threadsOn(t, os.Getpid()); !slices.Equal(after, []string{cpuset.Format(all)}) {
		t.Errorf("after the trial procfit is on %v, before on %v", after, all)
	}
	if trial.HostUse.TargetCPUs != len(split.Target) {
		t.Errorf("the target is said to have %d CPUs, not %d", trial.HostUse.TargetCPUs, len(split.Target))
	}
}

// listeners are the servers among this process's descendants: below the supervisor,
// which is its child.
func listeners(t *testing.T) (pids []int) {
	t.Helper()
	self := must.Get(os.Executable())(t)
	for _, e := range must.Get(os.ReadDir("/proc"))(t) {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		words, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.HasPrefix(string(words), self+"\x00"+serverArgument+"\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// With CPUs given for the load alone procfit steps aside too, and the target keeps all.
func TestLoadCPUsGiven(t *testing.T) {
	all := topology.Allowed()
	if len(all) < 2 {
		need.Skip(t, "needs two CPUs")
	}
	spec := overheadSpec(t)
	spec.Load.CPUs = all[1:2]
	runner, task := overheadRunner(t, spec)
	task.Setting.Procs, task.RatePerSecond = nil, nil
	trial, err := answered(t.Context(), runner, task, nil)
	if err != nil || !trial.Valid {
		t.Fatalf("%v %s", err, trial.InvalidReason)
	}
	if p := trial.ObservedProcs[0]; p == nil || *p != len(all) && os.Getenv("GOMAXPROCS") == "" {
		t.Errorf("the target's default is %v, want %d: it has all CPUs", p, len(all))
	}
}

// What cannot be had is reported, with what helps, and nothing stays bound.
func TestMoveToNowhere(t *testing.T) {
	before := threadsOn(t, os.Getpid())
	r := &runner{spec: overheadSpec(t)}
	r.spec.Split = &plan.Split{Target: []int{0}, Load: []int{1023}}
	back, err := r.moveToLoadCPUs()
	if err == nil {
		back()
		t.Fatal("bound to a CPU that is not there")
	}
	if !strings.Contains(err.Error(), "--cpus load=shared") || !strings.Contains(err.Error(), "cannot run on CPUs") {
		t.Errorf("%v does not say what helps", err)
	}
	if after := threadsOn(t, os.Getpid()); !slices.Equal(after, before) {
		t.Errorf("bound to %v, before to %v", after, before)
	}
}

func TestWidest(t *testing.T) {
	half, two := 0.5, 2.0
	setting := func(q *float64) journal.Setting {
		return journal.Setting{Label: "3", Procs: new(3), QuotaCPUs: q, Replicas: 1}
	}
	for name, tc := range map[string]struct {
		settings []journal.Setting
		want     *float64
	}{
		"the highest":    {[]journal.Setting{setting(&half), setting(&two), setting(&half)}, &two},
		"none is higher": {[]journal.Setting{setting(&half), setting(nil), setting(&two)}, nil},
		"the only one":   {[]journal.Setting{setting(&half)}, &half},
	} {
		got := widest(journal.Plan{Settings: tc.settings})
		if got.Procs != nil || got.Label != journal.Default || got.QuotaCPUs != tc.want {
			t.Errorf("%s: %+v, want the default of %v", name, got, tc.want)
		}
	}
}

package observe

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/child"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// limitedGroup makes a cgroup with a CPU limit, which it reaches on a busy machine too.
func limitedGroup(t *testing.T, cpus float64) *cgroup.Group {
	t.Helper()
	parent, err := cgroup.Find()
	if err != nil {
		need.Skip(t, "needs a cgroup: "+err.Error())
	}
	group := must.Get(parent.New())(t)
	t.Cleanup(func() { group.Remove() })
	must.OK(t, group.SetQuota(cpus))
	must.OK(t, group.SetShares(1<<18))
	return group
}

// TestLimits has a limit around the process that nobody set for it: that of the
// group above its own.
func TestLimits(t *testing.T) {
	group := limitedGroup(t, 0.1)
	inner := group.Dir() + "/inner"
	must.OK(t, os.Mkdir(inner, 0o755))
	t.Cleanup(func() { os.Remove(inner) }) // after the process has ended, before the group
	at := func(pid int) Limit {
		t.Helper()
		all, err := Limits(pid)
		i := slices.IndexFunc(all, func(l Limit) bool { return l.Dir == group.Dir() })
		if err != nil || i < 0 || all[i].CPUs != 0.1 || all[i].Err != nil {
			t.Fatalf("%+v, %v; want 0.1 CPUs of %s", all, err, group.Dir())
		}
		return all[i]
	}
	script := `echo $$ >"$1" && echo && read x && while :; do :; done`
	cmd := exec.Command("sh", "-c", script, "sh", inner+"/cgroup.procs")
	c := child.Start(t, cmd)
	t.Cleanup(func() { c.Process.Kill() })
	c.Line()
	idle := at(c.PID())
	c.In.Write([]byte("\n"))
	var busy []Limit
	var span facts.Throttling
	var ok bool
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		busy = Reread([]Limit{idle})
		if span, ok = busy[0].Since(idle); !ok || span.Throttled > 0 { // on a busy machine not in the first periods
			break
		}
	}
	if !ok || span.Periods == 0 || span.ThrottledPeriods == 0 || span.Throttled == 0 || busy[0].Periods < span.Periods {
		t.Errorf("throttled %+v, %v, of %+v", span, ok, busy[0])
	}
	if _, ok := idle.Since(busy[0]); ok {
		t.Error("a group that was made anew is counted from its predecessor")
	}
	c.Process.Kill()
	c.End()
	if _, err := Limits(c.PID()); !errors.Is(err, ErrNoProcess) {
		t.Errorf("one that has ended: %v", err)
	}
}

// TestLimitsNotKnown: what cannot be read is never taken for no limit.
func TestLimitsNotKnown(t *testing.T) {
	files := map[string]string{
		"proc/7/cgroup":           "0::/a/b\n",
		"proc/7/mountinfo":        "25 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"proc/7/status":           "Cpus_allowed_list:\t0-3\n",
		"sys/fs/cgroup/a/cpu.max": "150000 100000\n",

		"sys/fs/cgroup/cgroup.procs":      "",
		"sys/fs/cgroup/a/cgroup.procs":    "",
		"sys/fs/cgroup/a/b/cgroup.procs":  "7\n",
		"sys/fs/cgroup/a/b/cpu.max":       "max 100000\n",
		"sys/fs/cgroup/a/b/cgroup.events": "",
	}
	read := func(change, text string) ([]Limit, error) {
		tree := fstest.MapFS{}
		for name, text := range files {
			tree[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if change != "" {
			tree[change] = &fstest.MapFile{Data: []byte(text)}
		}
		f := must.Get(facts.ReadFS(tree, 7))(t)
		all, err := limitsOf(f)
		if got := LimitsKnown(f); got != (err == nil) {
			t.Errorf("known: %v, but %v", got, err)
		}
		return all, err
	}
	all, err := read("", "")
	if err != nil || len(all) != 1 || all[0].Dir != "/sys/fs/cgroup/a" || all[0].CPUs != 1.5 || all[0].Err == nil {
		t.Errorf("%+v, %v; want 1.5 CPUs of a group whose cpu.stat is not there", all, err)
	}
	if all, err := read("sys/fs/cgroup/a/b/cpu.max", "much"); err == nil || len(all) != 1 || !strings.Contains(err.Error(), "/sys/fs/cgroup/a/b") {
		t.Errorf("a malformed limit: %+v, %v", all, err)
	}
	if all, err := read("proc/7/cgroup", "0::/elsewhere\n"); err == nil || len(all) != 0 {
		t.Errorf("a group that cannot be seen: %+v, %v", all, err)
	}
}

func TestCPUTime(t *testing.T) {
	before := must.Get(CPUTime(0))(t)
	all, err := CPUTime()
	if err != nil || before.Total <= 0 || all.Total < before.Total {
		t.Errorf("CPU 0 %+v of %+v, %v", before, all, err)
	}
	play(t, "burn")
	now, err := CPUTime()
	if use := now.Since(all); err != nil || use.Busy < burnt/2 {
		t.Errorf("a program has used %v: %+v, %v", burnt, use, err)
	}
	if _, err := CPUTime(1 << 15); err == nil {
		t.Error("a CPU that is not there: no error")
	}
}

func TestProgram(t *testing.T) {
	pid, _ := play(t, "leaf")
	var r Reader
	p, err := r.Program(pid)
	if live, liveErr := r.Live(pid); err != nil || liveErr != nil || p.MainModule != "github.com/procfit/procfit" || live.MainModule != p.MainModule || live.GoVersion != p.GoVersion {
		t.Errorf("%+v, %v; live %+v, %v", p, err, live, liveErr)
	}
	shell, _ := run(t, exec.Command("sh", "-c", "echo; read x"))
	if _, err := r.Program(shell); !errors.Is(err, ErrNotGo) {
		t.Errorf("a shell: %v", err)
	}
	if _, err := r.Live(shell); !errors.Is(err, ErrNotGo) {
		t.Errorf("a shell: %v", err)
	}
}

package observe

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

func newScanner(t testing.TB) *Scanner {
	t.Helper()
	s := must.Get(NewScanner())(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func scan(t testing.TB, s *Scanner, pids ...int) Snapshot {
	t.Helper()
	return must.Get(s.Scan(t.Context(), pids...))(t)
}

// one is the process of that PID in the snapshot.
func one(t testing.TB, snap Snapshot, pid int) Process {
	t.Helper()
	i := slices.IndexFunc(snap.Processes, func(p Process) bool { return p.PID == pid })
	if i < 0 {
		t.Fatalf("no process %d among %d; unreadable %+v", pid, len(snap.Processes), snap.Unreadable)
	}
	return snap.Processes[i]
}

func TestScan(t *testing.T) {
	idle, _ := play(t, "leaf")
	shell, _ := run(t, exec.Command("sh", "-c", "echo; read x"))
	s := newScanner(t)
	time.Sleep(20 * time.Millisecond) // a process is as old as its ticks of 10 ms, at first 0
	first := scan(t, s)
	p := one(t, first, idle)
	if first.Interval != 0 || p.Recent != nil || p.Total.Span <= 0 || first.Others == 0 {
		t.Errorf("the first scan: interval %v, others %d, %+v", first.Interval, first.Others, p)
	}
	if n, _ := p.Procs(); n != 3 || p.SetBy != rule.SetByEnv || p.ProcsSource() == "" || p.NumCPU != runtime.NumCPU() || p.Threads < 2 || p.Started == 0 {
		t.Errorf("%+v", p)
	}
	if !p.Total.Counted || p.Total.Voluntary+p.Total.Involuntary == 0 {
		t.Errorf("no context switches since it began: %+v", p.Total)
	}
	if p.Total.Latency == nil {
		t.Error("no scheduling latency")
	} else if _, known := p.Total.LatencyAt(0.99); known != (p.Total.Latency.Count() > 0) {
		t.Errorf("a p99 of %d events: %v", p.Total.Latency.Count(), known)
	}
	busy, _ := play(t, "burn")
	second := scan(t, s)
	if second.Interval <= 0 || one(t, second, idle).Recent == nil || one(t, second, busy).Recent == nil {
		t.Errorf("the second scan: interval %v, %+v", second.Interval, second.Processes)
	}
	if c := one(t, second, idle).Last(); c.CPU > burnt || c.Span <= 0 || c.Span > time.Minute {
		t.Errorf("an idle process: %+v", c)
	}
	if c := one(t, second, busy).Last(); c.CPU < burnt/2 {
		t.Errorf("a busy process: %+v", c)
	}
	for _, p := range second.Processes {
		if p.PID == shell {
			t.Error("the shell is listed")
		}
	}
	if snap := scan(t, s, idle); len(snap.Processes) != 1 || snap.Processes[0].PID != idle {
		t.Errorf("asked for one: %+v", snap.Processes)
	}
	if snap := scan(t, s, idle, shell, 1<<30); len(snap.Processes) != 1 || !slices.Equal(snap.NotGo, []int{shell}) || snap.Others != 1 {
		t.Errorf("of a Go program, a shell and none: %d processes, %v no Go programs, others %d", len(snap.Processes), snap.NotGo, snap.Others)
	}
	if len(second.NotGo) > 0 {
		t.Errorf("%d processes that nobody named", len(second.NotGo))
	}
	s.Except = idle
	if snap := scan(t, s); slices.ContainsFunc(snap.Processes, func(p Process) bool { return p.PID == idle }) {
		t.Error("the exception is listed")
	}
	if snap := scan(t, s, idle); len(snap.Processes) != 1 {
		t.Errorf("the exception, asked for: %+v", snap.Processes)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Scan(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestScanLess: what nobody asked for is left out, and the next Scan goes on from there.
func TestScanLess(t *testing.T) {
	pid, _ := play(t, "leaf")
	s := newScanner(t)
	s.Uncounted, s.Unjudged = true, true
	snap := scan(t, s, pid)
	if p := one(t, snap, pid); p.Total.Counted || snap.Counters != "" || p.Fit.Procs != 0 || p.Findings != nil || p.Live == nil {
		t.Errorf("%s: %+v", snap.Counters, p)
	}
	s.Uncounted, s.Unjudged = false, false
	if p := one(t, scan(t, s, pid), pid); !p.Total.Counted || p.Recent == nil || p.Recent.Counted || p.Fit.Procs == 0 || p.Findings == nil {
		t.Errorf("the next scan: %+v", p)
	}
	if p := one(t, scan(t, s, pid), pid); !p.Recent.Counted {
		t.Errorf("the third scan: %+v", p)
	}
}

// TestScanOutOfTime: a scan whose time is over has what it looked at, and says of the
// others that there was no time; the next one counts on from what was known before.
func TestScanOutOfTime(t *testing.T) {
	pid, _ := play(t, "leaf")
	s := newScanner(t)
	over, cancel := context.WithCancelCause(t.Context())
	cancel(ErrTime)
	late := func() {
		t.Helper()
		snap, err := s.Scan(over)
		i := slices.IndexFunc(snap.Unreadable, func(u Unreadable) bool { return u.PID == pid })
		if err != nil || i < 0 || snap.Unreadable[i].Cause != Late || snap.Unreadable[i].Name == "" || len(snap.Processes) > 0 {
			t.Fatalf("%+v, %v", snap, err)
		}
	}
	late()
	first := one(t, scan(t, s), pid)
	const between = 200 * time.Millisecond // much more than the ticks of a process's age
	time.Sleep(between)
	late()
	if p := one(t, scan(t, s), pid); p.Recent == nil || p.Recent.Span >= p.Total.Span || p.Recent.Span < p.Total.Span-first.Total.Span-between/2 {
		t.Errorf("since the first look: %+v of %+v", p.Recent, p.Total)
	}
}

// TestScanKnownFirst: a scan looks first at the programs of the scan before.
func TestScanKnownFirst(t *testing.T) {
	pid, _ := play(t, "leaf")
	s := newScanner(t)
	scan(t, s, pid)
	shell, _ := run(t, exec.Command("sh", "-c", "echo; read x"))
	if got := s.order([]int{shell, pid}); !slices.Equal(got, []int{1, 0}) {
		t.Errorf("the order of a new program and a known one: %d", got)
	}
}

// TestScanNamedSharers: a program is judged together with those under its limit, also when
// it alone was asked for.
func TestScanNamedSharers(t *testing.T) {
	group := limitedGroup(t, float64(runtime.NumCPU())-0.5)
	start := func(words ...string) (pid int) {
		pid, _ = run(t, asRole("sh", "leaf", append([]string{"-c", `echo $$ >"$0" && GOMAXPROCS=1 exec /proc/$PPID/exe "$@"`, group.ProcsFile()}, words...)...))
		return pid
	}
	first := start()
	start("(tracer)")
	start("(supervisor)")
	snap, err := newScanner(t).ScanNamed(t.Context(), []int{first}, func(string) bool { return false })
	if err != nil || len(snap.Processes) != 1 || one(t, snap, first).Shared {
		t.Errorf("procfit at work under the limit: %+v, %v", snap.Processes, err)
	}
	start()
	snap, err = newScanner(t).ScanNamed(t.Context(), []int{first}, func(string) bool { return false })
	if err != nil || len(snap.Processes) != 1 || !one(t, snap, first).Shared {
		t.Errorf("two under the limit: %+v, %v", snap.Processes, err)
	}
	s, err := new(Reader).Subject(first)
	if err != nil || !Watched(t.Context(), s).Shared {
		t.Errorf("Watched: not shared, %v", err)
	}
}

// TestScanThrottled runs three Ps in a tenth of a CPU.
func TestScanThrottled(t *testing.T) {
	group := limitedGroup(t, 0.1)
	s := newScanner(t)
	// At 0.1 CPUs its work takes ten periods of 100 ms.
	pid, _ := run(t, asRole("sh", "burn", "-c", `echo $$ >"$1" && exec /proc/$PPID/exe`, "sh", group.ProcsFile()))
	p := one(t, scan(t, s, pid), pid)
	total := p.Total.Throttling
	if total == nil || total.Dir != group.Dir() || total.Periods == 0 || total.ThrottledPeriods == 0 || total.Throttled == 0 || total.Span != 0 {
		t.Fatalf("throttling since the group was made: %+v", total)
	}
	if p.Throttling == nil || *p.Throttling != *total {
		t.Errorf("the rules see %+v, want %+v", p.Throttling, total)
	}
	recent := one(t, scan(t, s, pid), pid).Recent
	if recent == nil || recent.Throttling == nil || recent.Throttling.Periods >= total.Periods || recent.Throttling.Span <= 0 {
		t.Errorf("throttling since the scan before: %+v", recent)
	}
	if recent != nil && recent.Throttling != nil && recent.Throttling.ThrottledPeriods > recent.Throttling.Periods {
		t.Errorf("more throttled periods than periods: %+v", recent.Throttling)
	}
	// One that comes later is not held to account for what befell its cgroup before.
	must.OK(t, group.SetQuota(2))
	scan(t, s)
	late, _ := run(t, asRole("sh", "leaf", "-c", `echo $$ >"$1" && exec /proc/$PPID/exe`, "sh", group.ProcsFile()))
	if p := one(t, scan(t, s), late); p.Recent == nil || p.Throttling == nil || p.Throttling.ThrottledPeriods > 0 || p.Total.Throttling.ThrottledPeriods < total.ThrottledPeriods {
		t.Errorf("a process that has just begun: %+v of %+v", p.Throttling, p.Total.Throttling)
	}
	subject, err := new(Reader).Subject(pid)
	if err != nil || subject.Throttling == nil || subject.Throttling.Periods < total.Periods {
		t.Errorf("Subject: %+v, %v", subject.Throttling, err)
	}
}

func asRole(command, role string, args ...string) *exec.Cmd {
	cmd := exec.Command(command, args...)
	cmd.Env = append(os.Environ(), "OBSERVE_ROLE="+role, "GOMAXPROCS=3")
	return cmd
}

// TestScanOfOthers scans as another user: what cannot be read is reported, with a
// remedy, and kernel threads and one's own processes are not among it.
func TestScanOfOthers(t *testing.T) {
	pid, _ := play(t, "leaf")
	s := newScanner(t)
	need.AsNobody(t, func() {
		stat, err := procstat.ReadStat(pid)
		if err != nil {
			t.Error(err)
			return
		}
		seen := &shared{facts: newFacts(), groups: newGroups(nil, time.Time{})}
		got := s.look(t.Context(), stat, seen) // lookAt would use another thread
		if u := got.unreadable; u == nil || got.process == nil || got.process.ProgramUnknown == "" || u.PID != pid || u.Name == "" ||
			!strings.Contains(u.Reason, "it is of user 0") || u.Cause != Denied || strings.Contains(u.Detail, "process") {
			t.Errorf("%+v, %+v", got, got.unreadable)
		}
		if got := s.lookAt(t.Context(), 2, seen); got.unreadable != nil {
			t.Errorf("kernel thread: %+v", got.unreadable)
		}
	})
}

func TestName(t *testing.T) {
	for comm, want := range map[string]string{"short": "short", "observe.test": "observe.test", "no such prefix!": "no such prefix!"} {
		if got := name(os.Getpid(), comm); got != want {
			t.Errorf("%q: %q, want %q", comm, got, want)
		}
	}
	long := t.TempDir() + "/a-very-long-program-name"
	sleep := must.Get(exec.LookPath("sleep"))(t)
	b := must.Get(os.ReadFile(sleep))(t)
	must.OK(t, os.WriteFile(long, b, 0o700))
	cmd := exec.Command(long, "60")
	must.OK(t, cmd.Start())
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	if got := name(cmd.Process.Pid, "a-very-long-pro"); got != "a-very-long-program-name" {
		t.Errorf("name %q", got)
	}
}

func TestWorst(t *testing.T) {
	mk := func(dir string, periods, throttled int64) rule.Throttling {
		t := rule.Throttling{Dir: dir}
		t.Periods, t.ThrottledPeriods = periods, throttled
		return t
	}
	if worst(nil) != nil {
		t.Error("something of nothing")
	}
	if got := worst([]rule.Throttling{mk("own", 10, 1), mk("parent", 10, 9), mk("root", 10, 9)}); got.Dir != "parent" {
		t.Errorf("worst is %s", got.Dir)
	}
	if got := worst([]rule.Throttling{mk("own", 0, 0), mk("parent", 0, 0)}); got.Dir != "own" {
		t.Errorf("of equal ones %s", got.Dir)
	}
}

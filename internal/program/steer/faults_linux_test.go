//go:build !portable && (amd64 || arm64)

package steer

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// refused wants a call to be refused for a reason, and the program to run on as before.
func refused(t *testing.T, pid int, why Why) {
	t.Helper()
	if _, err := Set(t.Context(), ask(pid, 3)); Because(err) != why {
		t.Errorf("%v; want %s", err, why)
	}
}

// TestRefusals: each reason has its own sentence, and nothing is changed.
func TestRefusals(t *testing.T) {
	beyond(t)
	path := build{args: stripped}.run(t)
	x := begin(t, path)
	procs := x.live().Procs

	sleep := exec.Command("sleep", "60")
	must.OK(t, sleep.Start())
	t.Cleanup(func() { _ = sleep.Process.Kill(); _ = sleep.Wait() })
	refused(t, sleep.Process.Pid, Unreadable)

	zombie := exec.Command("true")
	must.OK(t, zombie.Start())
	must.Until(t, "ended", func() bool { return procstat.HasEnded(zombie.Process.Pid) })
	refused(t, zombie.Process.Pid, Ended)
	_ = zombie.Wait()
	refused(t, zombie.Process.Pid, Ended)

	for why, spoil := range map[Why]func(*Request){
		Replaced: func(r *Request) { r.Started-- },
		Executed: func(r *Request) { r.Inode++; r.Told[0]++ },
	} {
		r := ask(x.pid(), 3)
		spoil(&r)
		if _, err := Set(t.Context(), r); Because(err) != why {
			t.Errorf("%v; want %s", err, why)
		}
	}

	_ = x.cmd.Process.Signal(syscall.SIGSTOP)
	must.Until(t, "stopped", func() bool { return state(x.pid()) == 'T' })
	refused(t, x.pid(), Halted)
	_ = x.cmd.Process.Signal(syscall.SIGCONT)

	traced := make(chan bool)
	go func() { // a tracer of its own, with whose thread the tracing ends
		runtime.LockOSThread()
		if err := unix.PtraceSeize(x.pid()); err != nil {
			t.Error(err)
		}
		traced <- true
		<-traced
	}()
	<-traced
	if _, err := Set(t.Context(), ask(x.pid(), 3)); Because(err) != Traced || !strings.Contains(err.Error(), fmt.Sprintf("process %d (", os.Getpid())) {
		t.Errorf("traced by this process, %d: %v", os.Getpid(), err)
	}
	traced <- true

	refused(t, begin(t, path).pid(), NoPlace)
	if now := x.live().Procs; now != procs {
		t.Errorf("GOMAXPROCS was %d, and is %d", procs, now)
	}
	x.untraced()
	x.check(procs)
}

// TestIgnoresTraps: the kernel would end such a program at the first trap.
func TestIgnoresTraps(t *testing.T) {
	beyond(t)
	need.Command(t, "gcc")
	refused(t, begin(t, build{env: withC}.run(t), "ignore", "compute=1").pid(), NoTraps)
}

// TestSeizeAnother: a thread that is not of the program is let go, as one that got the number of
// a thread that has ended.
func TestSeizeAnother(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sleep := exec.Command("sleep", "60")
	must.OK(t, sleep.Start())
	t.Cleanup(func() { _ = sleep.Process.Kill(); _ = sleep.Wait() })
	x := &tracer{Program: Program{PID: os.Getpid()}, tid: unix.Gettid(), seized: map[int]bool{}}
	if err := x.seize(sleep.Process.Pid); err != unix.ESRCH || len(x.seized) > 0 {
		t.Errorf("%v, %v", err, x.seized)
	}
	if by, s := tracedBy(sleep.Process.Pid), state(sleep.Process.Pid); by != 0 || s == 't' {
		t.Errorf("it is traced by %d, and in state %c", by, s)
	}
}

// TestSentences: each reason is a sentence with its detail.
func TestSentences(t *testing.T) {
	for why, want := range sentences {
		if strings.Count(want, "%s") > 1 {
			t.Errorf("%s: %q", why, want)
		}
		if text := (&Refusal{1, why, "x"}).Error(); strings.Contains(text, "%!") || !strings.HasPrefix(text, "process 1: ") {
			t.Errorf("%s: %q", why, text)
		}
	}
	x := &tracer{Program: Program{PID: 1}, text: &goproc.Text{Machine: machine}}
	if err := x.program(); Because(err) != Unknown || !strings.HasPrefix(err.Error(), "process 1: it is built with an unknown Go version, ") {
		t.Errorf("of a program that names no Go version: %v", err)
	}
}

// TestMost: what the runtime would crash by, or take gigabytes for, is refused before anything is
// started.
func TestMost(t *testing.T) {
	nobody := Program{PID: 1 << 30} // above every process ID
	if _, err := Set(t.Context(), Request{Program: nobody, Value: Value{Procs: Most + 1}}); Because(err) != Unsupported || !strings.Contains(err.Error(), "GOMAXPROCS=4097 is above 4096") {
		t.Errorf("%v", err)
	}
}

// rounds is how often a fault is tried at a moment that differs each time.
const rounds = 100

// faults are what can happen to a program and to its tracer, which stands still meanwhile.
var faults = []struct {
	name string
	do   func(x *target, tracer *os.Process)
}{
	{"the tracer is killed", func(_ *target, tracer *os.Process) { _ = tracer.Kill() }},
	{"the program is killed", func(x *target, _ *os.Process) { _ = x.cmd.Process.Kill() }},
	{"the program calls exec", func(x *target, _ *os.Process) { x.do("/exec"); x.became("sleep") }},
	{"the program starts itself again", func(x *target, _ *os.Process) {
		p, _ := Identify(x.pid())
		x.do("/exec?self=5")
		for end := time.Now().Add(waiting); p.same() == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
	}},
	{"the program starts another one", func(x *target, _ *os.Process) { x.do("/fork") }},
	{"a thread ends", func(x *target, _ *os.Process) { x.do("/end") }},
	{"the program is stopped", func(x *target, _ *os.Process) { _ = x.cmd.Process.Signal(unix.SIGSTOP) }},
	{"the tracer is suspended", func(*target, *os.Process) { time.Sleep(2 * slowest) }},
}

// waiting is how long a fault may take to come, while one thread of the program stands still:
// it may not come before the tracer continues.
const waiting = 300 * time.Millisecond

// do asks the program to do something.
func (x *target) do(path string) { _, _ = get(clientOf(waiting), x.url+path) }

// became waits until the process runs another program.
func (x *target) became(name string) bool {
	for end := time.Now().Add(waiting); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if s, err := procstat.ReadStat(x.pid()); err == nil && s.Name == name {
			return true
		}
	}
	return false
}

func state(pid int) byte {
	s, err := procstat.ReadStat(pid)
	if err != nil || s.Ended() {
		return 'X'
	}
	return s.State
}

// TestFaults has each fault come at each step of a call. The program is let go each time. It
// runs on with the new value or the old one, except where the tracer is killed: what is on its
// way then ends by SIGTRAP.
func TestFaults(t *testing.T) {
	beyond(t)
	path := build{args: stripped}.run(t)
	executed := 0
	for _, at := range []step{atSeized, atPlace, atStep, atBegun, atCall, atReturn, atRestore, atVectors, atRestored} {
		for i, f := range faults {
			t.Run(string(at)+"/"+f.name, func(t *testing.T) {
				modes := []string{"compute=1"}
				if at == atStep {
					modes = nil
				}
				x := begin(t, path, modes...)
				if at == atStep { // found after a read, since it does nothing else
					l := requests(x.url, 1, 50*time.Millisecond)
					t.Cleanup(l.stop)
				}
				c, was := x.reach(at)
				f.do(x, c.cmd.Process)
				_ = c.cmd.Process.Signal(unix.SIGCONT)
				_, err := c.result(x.pid())
				if Because(err) == Executed {
					executed++
				}
				t.Logf("%s; %s: %s", at, f.name, x.outcome(i, at, was, err))
			})
		}
	}
	if executed < 6 {
		t.Errorf("exec came before the end of a call %d times: too few", executed)
	}
}

// TestDelayed: the tracer is killed while it delays the signal by which the runtime preempts
// the goroutine that is stepped. The next instruction would trap, but another signal comes first
// and ends the stepping: the program runs on, and gets the signal from procfit. The runtime sends
// that thread no other before.
func TestDelayed(t *testing.T) {
	beyond(t)
	x := begin(t, build{args: stripped, also: "urgent"}.run(t))
	l := requests(x.url, 1, 50*time.Millisecond)
	defer l.stop()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(500 * time.Microsecond) {
			x.signal(unix.SIGURG, func(byte) bool { return true })
		}
	})
	c, was := x.reach(atDelayed)
	cancel()
	all.Wait()
	x.signal(unix.SIGWINCH, func(state byte) bool { return state == 't' })
	_ = c.cmd.Process.Kill()
	must.Until(t, "the end of the tracer", func() bool { return state(c.cmd.Process.Pid) == 'X' })
	before := x.urgent()
	if _, err := c.result(x.pid()); Because(err) != Lost {
		t.Errorf("%v; expected %s", err, Lost)
	}
	must.Until(t, "the signal that was delayed", func() bool { return x.urgent() > before })
	x.check(was)
	x.untraced()
}

// signal sends a signal to all threads in some states.
func (x *target) signal(s unix.Signal, in func(state byte) bool) {
	tids, _ := procstat.IDs(fmt.Sprintf("/proc/%d/task", x.pid())) // none once it has ended
	for _, tid := range tids {
		if in(state(tid)) {
			_ = unix.Tgkill(x.pid(), tid, s) // else it has ended
		}
	}
}

// urgent is how many signals by which the runtime preempts the program has got.
func (x *target) urgent() (n int) {
	x.t.Helper()
	body, err := get(clientOf(time.Minute), x.url+"/urgent")
	if _, scan := fmt.Sscan(body, &n); err != nil || scan != nil {
		x.t.Fatalf("%q: %v, %v", body, err, scan)
	}
	return n
}

// reach starts a call of 3 that stands still at a step, and returns GOMAXPROCS before it.
func (x *target) reach(at step) (c *child, was int) {
	x.t.Helper()
	for { // where it is to be found after a read, it may be found otherwise
		was = x.live().Procs
		c := must.Get(start(tracerPart, message{Request: ask(x.pid(), 3), Pause: at}))(x.t)
		reached := false
		must.Until(x.t, "the tracer's step", func() bool {
			reached = state(c.cmd.Process.Pid) == 'T'
			return reached || state(c.cmd.Process.Pid) == 'X'
		})
		if reached {
			return c, was
		}
		_ = c.end()
	}
}

// outcome judges what has become of a program, and returns it in words.
func (x *target) outcome(fault int, at step, was int, err error) string {
	x.t.Helper()
	// A trap that waits when the tracer is killed is one too many for the program.
	traps := at == atStep || at == atBegun || at == atCall || at == atReturn
	wants := func(ok bool, what string) string {
		if !ok {
			x.t.Errorf("want that %s; it said %v", what, err)
		}
		return what
	}
	after := func() string { // a call that was made or not
		if now := x.live().Procs; err == nil && now != 3 || err != nil && now != was {
			x.t.Errorf("GOMAXPROCS was %d and is %d: %v", was, now, err)
		}
		x.check(x.live().Procs)
		x.untraced()
		if err == nil {
			return "the call is made"
		}
		return "the call is refused: " + string(Because(err))
	}
	switch fault {
	case 0:
		if traps {
			must.Until(x.t, "ended", func() bool { return state(x.pid()) == 'X' })
			<-x.ended
			return wants(strings.Contains(x.said.String(), "SIGTRAP") && Because(err) == Lost, "it ends by SIGTRAP")
		}
		wants(Because(err) == Lost, "the tracer is gone")
		x.untraced()
		if at == atRestore || at == atVectors { // a comparison may be lost, which can make any answer wrong
			time.Sleep(waiting)
			wants(x.alive(), "the program runs on")
			return "the program runs on, with flags that may be others"
		}
		x.check(x.live().Procs)
		return "the program runs on"
	case 1:
		<-x.ended
		return wants(err == nil && at == atRestored || Because(err) == Ended, "the program has ended")
	case 2, 3:
		if err == nil { // as where the runtime waits for the thread that stands still
			return "the call was made before"
		}
		wants(Because(err) == Executed, "exec is seen")
		time.Sleep(waiting) // what was written into the new program would end it
		if fault == 2 {
			wants(x.became("sleep"), "the new program runs")
		} else {
			wants(x.live().Procs == 5, "the new program has its own value")
		}
		x.untraced()
		return "the new program runs as if nothing had been"
	case 6:
		must.Until(x.t, "stopped", func() bool { return state(x.pid()) == 'T' })
		x.untraced()
		_ = x.cmd.Process.Signal(unix.SIGCONT)
		return "it is stopped, and after SIGCONT " + after()
	}
	wants(err == nil, "the call is made")
	return after()
}

// TestFrozen: a program whose cgroup is frozen while one of its threads is stepped is left alone
// within the time of a call, and runs on when it is thawed.
func TestFrozen(t *testing.T) {
	need.Everything(t, "waits for the end of a call's time, 10 s")
	group := fmt.Sprintf("/sys/fs/cgroup/unified/steer-%d", os.Getpid())
	if os.Mkdir(group, 0o755) != nil {
		group = strings.Replace(group, "unified/", "", 1)
		if err := os.Mkdir(group, 0o755); err != nil {
			need.Skip(t, err.Error())
		}
	}
	t.Cleanup(func() { _ = os.Remove(group) })
	freeze := func(b string) {
		if err := os.WriteFile(group+"/cgroup.freeze", []byte(b), 0o644); err != nil {
			need.Skip(t, err.Error())
		}
	}
	x := begin(t, build{args: stripped}.run(t))
	if err := os.WriteFile(group+"/cgroup.procs", fmt.Append(nil, x.pid()), 0o644); err != nil {
		need.Skip(t, err.Error())
	}
	l := requests(x.url, 1, 50*time.Millisecond)
	defer l.stop()
	c, was := x.reach(atStep)
	freeze("1")
	defer freeze("0")
	_ = c.cmd.Process.Signal(unix.SIGCONT)
	if a, none := c.answer(x.pid(), time.Now().Add(2*watching)); none != nil || Because(a.err()) != NoPlace {
		t.Errorf("%v, %v; want %s", none, a.err(), NoPlace)
	}
	freeze("0")
	_ = c.end()
	x.check(was)
	x.untraced()
}

// TestTracerKilled kills the tracer at a time of its call that differs each round. The program
// runs on, or ends by SIGTRAP, and never hangs. TestFaults says at which step a comparison can
// be lost.
func TestTracerKilled(t *testing.T) {
	beyond(t)
	path := build{args: stripped}.run(t)
	lived, died, wrong, done := 0, 0, 0, 0
	for i := range rounds {
		x := begin(t, path)
		l := requests(x.url, 4, 0)
		c := must.Get(start(tracerPart, message{Request: ask(x.pid(), 3)}))(t)
		time.Sleep(time.Duration(i%40) * time.Millisecond)
		_ = c.cmd.Process.Kill()
		if _, err := c.result(x.pid()); err == nil {
			done++
		}
		time.Sleep(time.Second) // a program that ends has to print its goroutines first
		select {
		case <-x.ended:
			died++
			if !strings.Contains(x.said.String(), "SIGTRAP") && !strings.Contains(x.cmd.ProcessState.String(), "trap") {
				t.Errorf("round %d: it ended by something else: %v\n%s", i, x.cmd.ProcessState, tail(x.said.String()))
			}
			l.stop()
		default:
			lived++
			if r, err := x.set(2); err != nil && Because(err) != NoPlace {
				t.Errorf("round %d: the next call: %+v, %v", i, r, err)
			}
			l.stop()
			if l.failed.Load() > 0 {
				t.Errorf("round %d: requests failed: %v", i, l.why.Load())
			}
			var procs, bad int
			if body, err := get(clientOf(time.Minute), x.url+"/check"); err != nil {
				t.Errorf("round %d: %v", i, err)
			} else if _, _ = fmt.Sscan(body, &procs, &bad); bad > 0 {
				wrong++ // a comparison was lost, as where the tracer is killed before it restores the flags
			}
		}
	}
	t.Logf("tracer killed %d times: %d programs ran on, %d of them with a wrong answer, %d ended by SIGTRAP, %d calls were over", rounds, lived, wrong, died, done)
}

// TestTargetEnds: the program is killed, calls exec, starts processes or ends threads at some
// time while calls are made.
func TestTargetEnds(t *testing.T) {
	beyond(t)
	path := build{args: stripped}.run(t)
	for i := range rounds {
		x := begin(t, path, "compute=2")
		go func() {
			time.Sleep(time.Duration(5+i) * time.Millisecond)
			_ = x.cmd.Process.Kill()
		}()
		if r, err := x.set(3); err != nil && Because(err) != Ended && Because(err) != Unreadable {
			t.Errorf("killed, round %d: %+v, %v", i, r, err)
		}
	}
	for i := range rounds {
		x := begin(t, path, "compute=2")
		must.Get(get(clientOf(time.Minute), fmt.Sprintf("%s/exec?ms=%d", x.url, 3*i)))(t)
		for range 3 {
			if r, err := x.set(3); err != nil && Because(err) != Executed && Because(err) != Unreadable && Because(err) != Ended {
				t.Errorf("exec, round %d: %+v, %v", i, r, err)
			}
		}
		if must.Until(t, "exec", func() bool { return x.became("sleep") }); !x.alive() {
			t.Errorf("exec, round %d", i)
		}
	}
	for _, mode := range []string{"fork", "end"} {
		x := begin(t, path, mode)
		x.hidden = mode == "end"
		x.calls(rounds)
	}
}

// loan is 7 for a while.
func (x *target) loan(d time.Duration) Loan {
	live := x.live()
	return Loan{Request: ask(x.pid(), 7), Before: Value{live.Procs, live.Custom != nil && !*live.Custom}, For: d}
}

// lend starts a guard.
func (x *target) lend(l Loan) *Guard {
	x.t.Helper()
	g, r, err := Lend(x.t.Context(), l)
	if err != nil || r.New != l.Value.Procs && !l.Value.Auto {
		x.t.Fatalf("%+v, %v", r, err)
	}
	if left := time.Until(LentUntil(x.pid(), Guards())); left > l.For || left < l.For-time.Minute {
		x.t.Errorf("a value is lent for %v, and LentUntil has %v", l.For, left)
	}
	return g
}

// givenBack waits until a guard has given the old value back.
func (x *target) givenBack(ctx context.Context, g *Guard, was goproc.Live) {
	x.t.Helper()
	r, trying, err := g.Wait(ctx)
	if now := x.live(); err != nil || trying || r.New != was.Procs || now.Procs != was.Procs || was.Custom != nil && *now.Custom != *was.Custom {
		x.t.Errorf("%+v, %v, %v; now %+v", r, trying, err, now)
	}
	x.untraced()
}

// TestGuard: the old value comes back when the time is over, when it is asked for, and when
// the guard is killed.
func TestGuard(t *testing.T) {
	need.Everything(t, "calls into a server take both CPUs")
	x := begin(t, build{args: stripped}.run(t), "compute=1")
	was := x.live()
	for name, do := range map[string]func(g *Guard, cancel func()){
		"over": func(*Guard, func()) {},
		"asked": func(_ *Guard, cancel func()) {
			if _, _, err := Lend(t.Context(), x.loan(time.Hour)); Because(err) != Lent { // as from another procfit at the same moment
				t.Errorf("a second loan: %v; expected %s", err, Lent)
			}
			cancel()
		},
		"killed": func(g *Guard, _ func()) { _ = g.child.cmd.Process.Kill() },
	} {
		l := x.loan(time.Hour)
		if name == "over" {
			l.For = time.Second
		}
		g := x.lend(l)
		ctx, cancel := context.WithCancel(context.Background())
		do(g, cancel)
		x.givenBack(ctx, g, was)
		cancel()
	}
	x.check(was.Procs)
}

// TestGuardChange: one guard lends several values in turn, and the one that comes back is that
// of before, also if the guard is killed.
func TestGuardChange(t *testing.T) {
	need.Everything(t, "calls into a server take both CPUs")
	x := begin(t, build{args: stripped}.run(t), "compute=1")
	was := x.live()
	for _, killed := range []bool{false, true} {
		g := x.lend(x.loan(time.Hour))
		for _, n := range []int{3, 5, 5} {
			r, err := g.Change(t.Context(), Value{Procs: n})
			if err != nil || r.New != n || x.live().Procs != n {
				t.Fatalf("%+v, %v; now %+v", r, err, x.live())
			}
		}
		if killed {
			_ = g.child.cmd.Process.Kill()
			_, _ = g.child.cmd.Process.Wait()
			if _, err := g.Change(t.Context(), Value{Procs: 4}); Because(err) != Lost {
				t.Errorf("%v; expected %s", err, Lost)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		x.givenBack(ctx, g, was)
	}
	x.check(was.Procs)
}

// lending lends a value to a program that has nothing to do: the tracer looks for a place. ended
// gets how Lend ended.
func lending(t *testing.T, x *target) (tracer int, ended chan error) {
	t.Helper()
	ended = make(chan error, 1)
	go func() {
		_, _, err := Lend(t.Context(), x.loan(time.Hour))
		ended <- err
	}()
	must.Until(t, "seized", func() bool { tracer = tracedBy(x.pid()); return tracer != 0 })
	return tracer, ended
}

// TestGuardLost: the guard is killed while its tracer looks for a place, which then sets nothing.
func TestGuardLost(t *testing.T) {
	need.Everything(t, "calls into a server take both CPUs")
	x := begin(t, build{args: stripped}.run(t)) // has nothing to do, so that the tracer looks on
	was := x.live().Procs
	tracer, lost := lending(t, x)
	s := must.Get(procstat.ReadStat(tracer))(t)
	_ = unix.Kill(s.Parent, unix.SIGKILL)
	if err := <-lost; Because(err) != Lost {
		t.Errorf("%v; want %s", err, Lost)
	}
	x.leftAlone(was)
}

// leftAlone wants a program that has nothing to do to be let go, and its value to stay when it has.
func (x *target) leftAlone(was int) {
	x.t.Helper()
	began := time.Now()
	must.Until(x.t, "let go", func() bool { return tracedBy(x.pid()) == 0 })
	if took := time.Since(began); took > Waits/2 {
		x.t.Errorf("it was let go after %v", took)
	}
	l := requests(x.url, 1, 0)
	time.Sleep(rest)
	l.stop()
	x.check(was)
	x.untraced()
}

// TestUnwanted: a call that nobody waits for any more is not begun, and one that has begun is
// finished.
func TestUnwanted(t *testing.T) {
	need.Everything(t, "calls into a server take both CPUs")
	path := build{args: stripped}.run(t)
	x := begin(t, path) // has nothing to do, so that the tracer looks on
	was := x.live().Procs
	ctx, cancel := context.WithCancel(t.Context())
	r := ask(x.pid(), 7)
	r.Idle = cancel
	if _, err := Set(ctx, r); Because(err) != Unwanted {
		t.Errorf("interrupted: %v", err)
	}
	x.leftAlone(was)
	l := x.loan(time.Hour)
	ctx, l.Idle = context.WithCancel(t.Context())
	if _, _, err := Lend(ctx, l); Because(err) != Unwanted {
		t.Errorf("of a loan: %v", err)
	}
	must.Until(t, "the end of the guard", func() bool { return LentUntil(x.pid(), Guards()).IsZero() })
	x.leftAlone(was)
	busy := requests(x.url, 1, 0)
	g := x.lend(x.loan(time.Hour))
	busy.stop()
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(rest, cancel)
	if _, err := g.Change(ctx, Value{Procs: 4}); Because(err) != Unwanted || x.live().Procs != 7 {
		t.Errorf("of another value of a loan: %v; GOMAXPROCS=%d", err, x.live().Procs)
	}
	busy = requests(x.url, 1, 0)
	if r, trying, err := g.Wait(ctx); err != nil || trying || r.New != was {
		t.Errorf("the guard gives back %d: %+v, %t, %v", was, r, trying, err)
	}
	busy.stop()
	x.leftAlone(was)
	c := must.Get(start(tracerPart, message{Request: ask(x.pid(), 7)}))(t)
	must.Until(t, "seized", func() bool { return tracedBy(x.pid()) != 0 })
	c.conn.Close() // as at the end of procfit
	x.leftAlone(was)

	x = begin(t, path, "compute=1")
	for at, begun := range map[step]bool{atSeized: false, atPlace: false, atBegun: true, atCall: true, atReturn: true, atRestore: true, atVectors: true, atRestored: true} {
		c, was := x.reach(at)
		c.hangUp()
		_ = c.cmd.Process.Signal(unix.SIGCONT)
		r, err := c.result(x.pid())
		if begun && (err != nil || r.New != 3) || !begun && (Because(err) != Unwanted || x.live().Procs != was) {
			t.Errorf("%s, with GOMAXPROCS=%d before: %+v, %v", at, was, r, err)
		}
		x.untraced()
		must.Get(x.set(1))(t)
	}
	x.check(1)
}

// TestGuardTracerLost: the guard's tracer is killed while it looks for a place, so that nothing is
// set. Who sets the value of the loan later keeps it.
func TestGuardTracerLost(t *testing.T) {
	need.Everything(t, "calls into a server take both CPUs")
	x := begin(t, build{args: stripped}.run(t)) // has nothing to do, so that the tracer looks on
	tracer, lost := lending(t, x)
	_ = unix.Kill(tracer, unix.SIGKILL)
	if err := <-lost; Because(err) != Lost {
		t.Errorf("%v; want %s", err, Lost)
	}
	// The value that it was to set is somebody else's from then on.
	must.Until(t, "that nothing is lent", func() bool { return LentUntil(x.pid(), Guards()).IsZero() })
	l := requests(x.url, 1, 0)
	defer l.stop()
	must.Get(x.set(7))(t)
	time.Sleep(3 * rest)
	x.check(7)
}

// TestGuardFinds: what comes back is what the first call found, and not what was read before it.
func TestGuardFinds(t *testing.T) {
	need.Everything(t, "calls into a server take both CPUs")
	x := begin(t, build{args: stripped}.run(t), "compute=1")
	must.Get(x.set(5))(t)
	l := x.loan(time.Second)
	must.Get(x.set(6))(t)
	g := x.lend(l)
	if r, _, err := g.Wait(context.Background()); err != nil || g.Before().Procs != 6 || r.New != 6 {
		t.Errorf("%+v, %v; given back %+v", r, err, g.Before())
	}
}

// TestGuardBack: a value that is back already is what the loan ends with.
func TestGuardBack(t *testing.T) {
	need.Everything(t, "calls into a server take both CPUs")
	x := begin(t, build{args: stripped}.run(t), "compute=1")
	must.Get(x.set(5))(t)
	g := x.lend(x.loan(2 * time.Second))
	must.Get(x.set(5))(t)
	if r, _, err := g.Wait(context.Background()); err != nil || r.New != 5 || r.Held != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestNoGuard: a program that another user can start as root, with a guard's command line, lends
// nothing: one with the setuid bit that still has his ID, and one that handles his signals.
func TestNoGuard(t *testing.T) {
	need.Root(t)
	dir := t.TempDir()
	must.OK(t, os.Chmod(filepath.Dir(dir), 0o755))
	setuid := filepath.Join(dir, "procfit")
	must.Get(exec.Command("cp", must.Get(os.Executable())(t), setuid).Output())(t)
	must.OK(t, os.Chmod(setuid, os.ModeSetuid|0o755))
	must.OK(t, os.WriteFile(filepath.Join(dir, string(guardPart)), []byte("read line\n"), 0o644))
	for path, user := range map[string]uint32{setuid: 65534, "/bin/sh": 0} {
		theirs, ours, err := os.Pipe()
		must.OK(t, err)
		cmd := exec.Command(path)
		cmd.Args = []string{"procfit", string(guardPart), strconv.Itoa(os.Getpid()), time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}
		cmd.Dir, cmd.Stdin, cmd.ExtraFiles = dir, theirs, []*os.File{theirs}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		must.OK(t, cmd.Start())
		theirs.Close()
		if path == setuid {
			must.Until(t, "that it ignores signals", func() bool {
				ignored, err := procstat.Status(cmd.Process.Pid, "SigIgn")
				return err != nil || strings.Trim(ignored, "0") != ""
			})
		}
		if until := LentUntil(os.Getpid(), []int{cmd.Process.Pid}); !until.IsZero() {
			t.Errorf("%s lends a value until %v", path, until)
		}
		ours.Close()
		_ = cmd.Wait() // it fails without the message of a guard
	}
}

// TestGuardTaken: what something else has set meanwhile stays.
func TestGuardTaken(t *testing.T) {
	need.Everything(t, "calls into a server take both CPUs")
	x := begin(t, build{args: stripped}.run(t), "compute=1")
	g := x.lend(x.loan(500 * time.Millisecond))
	must.Get(x.set(5))(t)
	if r, _, err := g.Wait(context.Background()); Because(err) != Taken || x.live().Procs != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	if x.live().Custom == nil {
		return
	}
	// A loan of what the runtime chooses has no number that could be compared.
	l := x.loan(time.Second)
	l.Value = Value{2, true}
	g = x.lend(l)
	if r, _, err := g.Wait(context.Background()); err != nil || r.New != 5 || r.Auto == nil || *r.Auto {
		t.Errorf("auto for a while: %+v, %v", r, err)
	}
	g = x.lend(l)
	if _, err := x.set(2); err != nil { // the same number, but set
		t.Fatal(err)
	}
	if r, _, err := g.Wait(context.Background()); Because(err) != Taken || x.live().Procs != 2 {
		t.Errorf("auto for a while, and 2 since: %+v, %v", r, err)
	}
}

// TestGuardIdle: a program that has nothing to do when the time is over is let go between two
// tries, and gets its old value with its next requests.
func TestGuardIdle(t *testing.T) {
	beyond(t)
	x := begin(t, build{args: stripped}.run(t))
	was := x.live().Procs
	l := requests(x.url, 1, 0)
	loan := x.loan(time.Second)
	g := x.lend(loan)
	l.stop()
	r, trying, err := g.Wait(context.Background())
	if Because(err) != NoPlace || !trying {
		t.Fatalf("%+v, %v, %v", r, trying, err)
	}
	t.Cleanup(func() { _ = g.child.cmd.Process.Kill() })
	must.Until(t, "let go", func() bool { return tracedBy(x.pid()) == 0 })
	l = requests(x.url, 1, 0)
	defer l.stop()
	must.Until(t, "given back", func() bool { return x.live().Procs == was })
	if err := g.child.end(); err != nil {
		t.Error(err)
	}
	x.untraced()
	x.check(was)
}

// TestGuardExec: the program that comes after exec gets nothing, not even if it is the same
// file and uses the value of the loan by itself.
func TestGuardExec(t *testing.T) {
	need.Everything(t, "calls into a server take both CPUs")
	path := build{args: stripped}.run(t)
	x := begin(t, path, "compute=1")
	must.Get(x.set(5))(t)
	g := x.lend(x.loan(3 * time.Second))
	x.do("/exec?self=7")
	if r, _, err := g.Wait(context.Background()); Because(err) != Executed {
		t.Errorf("%+v, %v", r, err)
	}
	time.Sleep(3 * time.Second)
	if procs := x.live().Procs; procs != 7 {
		t.Errorf("the new program uses %d", procs)
	}
	x.untraced()
	x = begin(t, path, "compute=1")
	g = x.lend(x.loan(time.Minute))
	_ = x.cmd.Process.Kill()
	<-x.ended
	if r, _, err := g.Wait(context.Background()); Because(err) != Ended {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestGuardKilled kills what has a value lent, at a time that differs each round: the old one
// is back within 5 s.
func TestGuardKilled(t *testing.T) {
	beyond(t)
	if os.Getenv("STEER_SETTER") != "" {
		setter()
	}
	path := build{args: stripped}.run(t)
	slowest := time.Duration(0)
	for i := range rounds {
		x := begin(t, path, "compute=1")
		was := x.live()
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestGuardKilled$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("STEER_SETTER=%d", x.pid()))
		out := must.Get(cmd.StdoutPipe())(t)
		must.OK(t, cmd.Start())
		if i%2 == 0 { // else it is killed somewhere on its way
			_, _ = bufio.NewReader(out).ReadString('\n')
		} else {
			time.Sleep(time.Duration(20+2*i) * time.Millisecond)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		killed, back := time.Now(), time.Time{}
		for time.Since(killed) < 20*time.Second {
			now := x.live()
			if now.Procs != was.Procs || was.Custom != nil && *now.Custom != *was.Custom {
				back = time.Time{}
			} else if back.IsZero() {
				back = time.Now()
			} else if time.Since(back) > 2*time.Second {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if slowest = max(slowest, back.Sub(killed)); back.IsZero() || back.Sub(killed) > 5*time.Second {
			t.Errorf("round %d: the value was not back within 5 s", i)
		}
		x.alive()
		x.untraced()
	}
	t.Logf("%d kills; the value was back within %v", rounds, slowest)
}

// setter sets a value for a while, and waits to be killed.
func setter() {
	var pid int
	if _, err := fmt.Sscan(os.Getenv("STEER_SETTER"), &pid); err != nil {
		panic(err)
	}
	live, err := new(goproc.Cache).Live(pid)
	if err != nil {
		panic(err)
	}
	if _, _, err := Lend(context.Background(), Loan{Request: ask(pid, 7), Before: Value{live.Procs, live.Custom != nil && !*live.Custom}, For: time.Hour}); err != nil {
		panic(err)
	}
	fmt.Println("set")
	time.Sleep(time.Minute)
}

// TestAuto: the runtime follows the limits again after a value was set, whether the function
// for it is linked in or not; before Go 1.25 it never does.
func TestAuto(t *testing.T) {
	beyond(t)
	toolchains := []string{"", "go1.25.0", "go1.27.4"}
	for _, toolchain := range toolchains {
		x := begin(t, build{toolchain: toolchain, env: noC, args: stripped, language: "1.25"}.run(t), "compute=1")
		before := x.live()
		if r, err := x.set(7); err != nil || r.New != 7 || r.Auto != nil && *r.Auto {
			t.Fatalf("%s: %+v, %v", toolchain, r, err)
		}
		auto := ask(x.pid(), before.Procs)
		auto.Value.Auto = before.Custom != nil
		r, err := Set(t.Context(), auto)
		if err != nil || r.New != before.Procs || r.Old != 7 || (r.Auto == nil) != (before.Custom == nil) || r.Auto != nil && !*r.Auto {
			t.Errorf("%s: %+v, %v", toolchain, r, err)
		}
		if before.Custom == nil {
			continue
		}
		// From another number than its own the runtime comes back by itself, as it follows again.
		auto.Value.Procs = 5
		if r, err = Set(t.Context(), auto); err != nil {
			t.Fatal(err)
		}
		must.Until(t, toolchain+" follows the limits", func() bool {
			now, err := new(goproc.Cache).Live(x.pid())
			return err == nil && now.Procs == before.Procs && !*now.Custom
		})
		x.alive()
	}
}

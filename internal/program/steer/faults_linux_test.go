//go:build !portable && (amd64 || arm64)

package steer

import (
	"bufio"
	"encoding/gob"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/test/need"
)

// refused wants a call to be refused for a reason, and the program to run on as before.
func refused(t *testing.T, pid int, why Why) {
	t.Helper()
	if _, err := Set(Request{PID: pid, Value: Value{Procs: 3}}); Because(err) != why {
		t.Errorf("%v; want %s", err, why)
	}
}

// TestRefusals: each reason has its own sentence, and nothing is changed.
func TestRefusals(t *testing.T) {
	path := build{args: stripped}.run(t)
	before := func(x *target) int {
		live, err := new(goproc.Cache).Live(x.pid())
		if err != nil {
			t.Fatal(err)
		}
		return live.Procs
	}
	x := begin(t, path)
	procs := before(x)

	sleep := exec.Command("sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sleep.Process.Kill(); _ = sleep.Wait() })
	refused(t, sleep.Process.Pid, Unreadable)

	zombie := exec.Command("true")
	if err := zombie.Start(); err != nil {
		t.Fatal(err)
	}
	for s, err := procstat.ReadStat(zombie.Process.Pid); err == nil && !s.Ended(); s, err = procstat.ReadStat(zombie.Process.Pid) {
		time.Sleep(time.Millisecond)
	}
	refused(t, zombie.Process.Pid, Ended)
	_ = zombie.Wait()
	refused(t, zombie.Process.Pid, Ended)

	if _, err := Set(Request{PID: x.pid(), Started: 1, Value: Value{Procs: 3}}); Because(err) != Replaced {
		t.Errorf("another process with that PID: %v", err)
	}

	_ = x.cmd.Process.Signal(syscall.SIGSTOP)
	for s, err := procstat.ReadStat(x.pid()); err == nil && s.State != 'T'; s, err = procstat.ReadStat(x.pid()) {
		time.Sleep(time.Millisecond)
	}
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
	refused(t, x.pid(), Traced)
	traced <- true

	refused(t, begin(t, path).pid(), NoPlace)
	if now := before(x); now != procs {
		t.Errorf("GOMAXPROCS was %d, and is %d", procs, now)
	}
	x.check(procs)
}

// TestIgnoresTraps: the kernel would end such a program at the first trap.
func TestIgnoresTraps(t *testing.T) {
	need.Command(t, "gcc")
	refused(t, begin(t, build{env: withC}.run(t), "ignore", "compute=1").pid(), NoTraps)
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
}

// rounds is how often a fault is tried.
func rounds() int {
	switch {
	case need.Whole():
		return 100
	case need.Full():
		return 10
	}
	return 4
}

// TestTracerKilled kills the tracer at a time of its call that differs each round. The program
// runs on, or ends by SIGTRAP: it never hangs and gives no wrong answer.
func TestTracerKilled(t *testing.T) {
	path := build{args: stripped}.run(t)
	lived, died, done := 0, 0, 0
	for i := range rounds() {
		x := begin(t, path)
		l := requests(x.url, 4, 0)
		c, err := start(message{Request: Request{PID: x.pid(), Value: Value{Procs: 3}}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i%40) * time.Millisecond)
		_ = c.cmd.Process.Kill()
		var a answer
		if gob.NewDecoder(c.conn).Decode(&a) == nil {
			done++
		}
		_ = c.end()
		time.Sleep(50 * time.Millisecond)
		select {
		case <-x.ended:
			died++
			if !strings.Contains(x.said.String(), "SIGTRAP") && !strings.Contains(x.cmd.ProcessState.String(), "trap") {
				t.Errorf("round %d: it ended by something else: %v\n%s", i, x.cmd.ProcessState, tail(x.said.String()))
			}
			l.stop()
		default:
			lived++
			l.stop()
			if l.failed.Load() > 0 {
				t.Errorf("round %d: requests failed: %v", i, l.why.Load())
			}
			body, err := get(clientOf(time.Minute), x.url+"/check")
			var procs, wrong, lost int
			if _, scan := fmt.Sscan(body, &procs, &wrong, &lost); err != nil || scan != nil || wrong != 0 {
				t.Errorf("round %d: %q, %v", i, body, err)
			}
			if r, err := Set(Request{PID: x.pid(), Value: Value{Procs: 2}}); err != nil && Because(err) != NoPlace {
				t.Errorf("round %d: the next call: %+v, %v", i, r, err)
			}
		}
	}
	t.Logf("tracer killed %d times: %d programs ran on, %d ended by SIGTRAP, %d calls were over", rounds(), lived, died, done)
}

// TestTargetEnds: the program is killed, calls exec, starts processes or ends threads while
// calls are made.
func TestTargetEnds(t *testing.T) {
	path := build{args: stripped}.run(t)
	for i := range rounds() {
		x := begin(t, path, "compute=2")
		go func() {
			time.Sleep(time.Duration(5+i) * time.Millisecond)
			_ = x.cmd.Process.Kill()
		}()
		if r, err := Set(Request{PID: x.pid(), Value: Value{Procs: 3}}); err != nil && Because(err) != Ended && Because(err) != Unreadable {
			t.Errorf("killed, round %d: %+v, %v", i, r, err)
		}
	}
	for i := range rounds() {
		x := begin(t, path, "compute=2")
		if _, err := get(clientOf(time.Minute), fmt.Sprintf("%s/exec?ms=%d", x.url, 3*i)); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if r, err := Set(Request{PID: x.pid(), Value: Value{Procs: 3}}); err != nil && Because(err) != Executed && Because(err) != Unreadable && Because(err) != Ended {
				t.Errorf("exec, round %d: %+v, %v", i, r, err)
			}
		}
		time.Sleep(50 * time.Millisecond)
		if s, err := procstat.ReadStat(x.pid()); err != nil || s.Name != "sleep" || s.Ended() {
			t.Errorf("exec, round %d: %+v, %v", i, s, err)
		}
	}
	for _, mode := range []string{"fork", "end"} {
		x := begin(t, path, mode)
		x.hidden = mode == "end"
		x.calls(rounds())
	}
}

// TestGuard kills what has set a value: the guard gives the old one back.
func TestGuard(t *testing.T) {
	if os.Getenv("STEER_SETTER") != "" {
		setter()
	}
	path := build{args: stripped}.run(t)
	for i := range rounds() {
		x := begin(t, path, "compute=1")
		live, err := new(goproc.Cache).Live(x.pid())
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestGuard$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("STEER_SETTER=%d", x.pid()))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 { // else it is killed somewhere on its way
			_, _ = bufio.NewReader(out).ReadString('\n')
		} else {
			time.Sleep(time.Duration(20+10*i) * time.Millisecond)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		killed, back := time.Now(), time.Time{}
		for time.Since(killed) < 20*time.Second {
			now, err := new(goproc.Cache).Live(x.pid())
			if err != nil {
				t.Fatal(err)
			}
			if now.Procs != live.Procs || live.Custom != nil && *now.Custom != *live.Custom {
				back = time.Time{}
			} else if back.IsZero() {
				back = time.Now()
			} else if time.Since(back) > 2*time.Second {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if back.IsZero() || back.Sub(killed) > 5*time.Second {
			t.Errorf("round %d: the value was not back within 5 s", i)
		}
		x.alive()
	}
}

// setter sets a value with a guard, and waits to be killed.
func setter() {
	var pid int
	if _, err := fmt.Sscan(os.Getenv("STEER_SETTER"), &pid); err != nil {
		panic(err)
	}
	s, err := procstat.ReadStat(pid)
	if err != nil {
		panic(err)
	}
	live, err := new(goproc.Cache).Live(pid)
	if err != nil {
		panic(err)
	}
	before := Value{Procs: live.Procs, Auto: live.Custom != nil && !*live.Custom}
	if _, err := Watch(Back{Request{pid, s.Started, before}, 7}); err != nil {
		panic(err)
	}
	if _, err := Set(Request{pid, s.Started, Value{Procs: 7}}); err != nil {
		panic(err)
	}
	fmt.Println("set")
	time.Sleep(time.Minute)
}

// TestAuto: the runtime follows the limits again after a value was set, whether the function
// for it is linked in or not; before Go 1.25 it never does.
func TestAuto(t *testing.T) {
	toolchains := []string{""}
	if need.Full() {
		toolchains = []string{"go1.25.0", "go1.27.4"}
	}
	for _, toolchain := range toolchains {
		x := begin(t, build{toolchain: toolchain, env: noC, args: stripped, language: "1.25"}.run(t), "compute=1")
		before, err := new(goproc.Cache).Live(x.pid())
		if err != nil {
			t.Fatal(err)
		}
		if r, err := Set(Request{PID: x.pid(), Value: Value{Procs: 7}}); err != nil || r.New != 7 || r.Auto != nil && *r.Auto {
			t.Fatalf("%s: %+v, %v", toolchain, r, err)
		}
		r, err := Set(Request{PID: x.pid(), Value: Value{Procs: before.Procs, Auto: before.Custom != nil}})
		if err != nil || r.New != before.Procs || r.Old != 7 || (r.Auto == nil) != (before.Custom == nil) || r.Auto != nil && !*r.Auto {
			t.Errorf("%s: %+v, %v", toolchain, r, err)
		}
		if before.Custom == nil {
			continue
		}
		// From another number than its own the runtime comes back by itself, as it follows again.
		if r, err = Set(Request{PID: x.pid(), Value: Value{Procs: 5, Auto: true}}); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			now, err := new(goproc.Cache).Live(x.pid())
			if err == nil && now.Procs == before.Procs && !*now.Custom {
				break
			}
			if time.Now().After(end) {
				t.Errorf("%s: it does not follow: %+v, %v", toolchain, now, err)
				break
			}
		}
		x.alive()
	}
}

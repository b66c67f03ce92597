package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/cli/scripts"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/test/must"
)

// TestMain makes procfit, the stand-in targets and slowend commands of the tests.
func TestMain(m *testing.M) { scripts.Main(m, Main, map[string]func(){"slowend": slowEnd}) }

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// slowEnd starts the command of its arguments, prints its PID, and does not end at Ctrl-C, as
// a sweep that has much to remove. With -q first, it is as quiet as that; with -pods, it has pods.
func slowEnd() {
	ctx := context.Background()
	words := os.Args[1:]
	std := newStdio(ctx, os.Stdin, os.Stdout, os.Stderr, words)
	switch words[0] {
	case "-q":
		words = words[1:]
		_ = (&printing{quiet: true}).std(std)
	case "-pods":
		words = words[1:]
		std.pods.Store(true)
	}
	os.Exit(std.untilForced(func() int {
		p, err := supervisor.Start(ctx, supervisor.Spec{Command: words})
		if err == nil {
			std.notef("%d", p.PID())
			_, err = p.Wait()
		}
		if err != nil {
			panic(err)
		}
		return 0
	}))
}

// slowlyEnding starts it, and returns what it prints after the PID of its command.
func slowlyEnding(t *testing.T, args ...string) (cmd *exec.Cmd, lines *bufio.Scanner, pid int) {
	t.Helper()
	cmd = exec.Command("slowend", args...)
	told, err := cmd.StderrPipe()
	must.OK(t, err)
	started(t, cmd)
	kill := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() { kill.Stop() })
	lines = bufio.NewScanner(told)
	if !lines.Scan() {
		t.Fatal("it prints no PID")
	}
	if pid, err = strconv.Atoi(strings.TrimPrefix(lines.Text(), "procfit: ")); err != nil {
		t.Fatal(err)
	}
	return cmd, lines, pid
}

// TestSecondInterrupt: if procfit does not end at Ctrl-C, a second one ends it at once, and
// what it started with it, but not its pods.
func TestSecondInterrupt(t *testing.T) {
	secondInterrupt(t, "without a report", "env", "OF=kube-state-metrics", "sleep", "600")
	secondInterrupt(t, "without a report; pods then stay", "-pods", "sleep", "600")
}

func secondInterrupt(t *testing.T, ending string, args ...string) {
	t.Helper()
	cmd, lines, pid := slowlyEnding(t, args...)
	interrupt := func() { must.OK(t, cmd.Process.Signal(syscall.SIGINT)) }
	interrupt()
	interrupt() // as of a parent that passes it on
	if !lines.Scan() || !strings.HasSuffix(lines.Text(), "press Ctrl-C again to end at once, "+ending) {
		t.Fatalf("after the first: %q", lines.Text())
	}
	if syscall.Kill(pid, 0) != nil {
		t.Error("its program has ended before the second")
	}
	interrupt()
	for lines.Scan() { // to its end
		t.Errorf("after the second: %q", lines.Text())
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted {
		t.Error(err)
	}
	until(t, fmt.Sprintf("the end of process %d", pid), func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
}

// TestQuietInterrupt: with -q it ends at a second Ctrl-C all the same, without a word.
func TestQuietInterrupt(t *testing.T) {
	cmd, lines, _ := slowlyEnding(t, "-q", "sleep", "600")
	over := make(chan struct{})
	defer close(over)
	go func() {
		for cmd.Process.Signal(syscall.SIGINT) == nil {
			select {
			case <-over:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	for lines.Scan() { // to its end
		t.Errorf("with -q: %q", lines.Text())
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted {
		t.Error(err)
	}
}

// TestTraceWithoutReader: if nobody reads standard error any more, as after Ctrl-C with 2>&1 | tee, a traced
// command still has time to end, and the report is printed.
func TestTraceWithoutReader(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ended")
	cmd := exec.Command("procfit", "trace", "--json", "--", "sh", "-c", `trap 'echo ending; sleep 0.2; echo >"$0"; exit' TERM; echo ready; while :; do sleep 0.05; done`, file)
	var report bytes.Buffer
	cmd.Stdout = &report
	told := must.Get(cmd.StderrPipe())(t)
	started(t, cmd)
	defer time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }).Stop()
	if lines := bufio.NewScanner(told); !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("it prints %q", lines.Text())
	}
	must.OK(t, told.Close())
	must.OK(t, cmd.Process.Signal(syscall.SIGINT))
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(report.String(), `"procfit.trace/v1"`) {
		t.Errorf("%v, with the report %q", err, report.String())
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("its command had no time to end: %v", err)
	}
}

// TestLabProgramEnds: a signal ends a practice program, also if a loop does not leave the only P.
func TestLabProgramEnds(t *testing.T) {
	cmd := exec.Command("procfit", "lab", "program", "preempt", "-d", "1h")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1")
	told := must.Get(cmd.StderrPipe())(t)
	started(t, cmd)
	defer time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }).Stop()
	if lines := bufio.NewScanner(told); !lines.Scan() || !strings.HasSuffix(lines.Text(), runtime.Version()) {
		t.Fatalf("it prints %q", lines.Text())
	}
	must.OK(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("it ended otherwise: %v", err)
	}
}

// TestNohup: a SIGHUP that was ignored when procfit started stays ignored.
func TestNohup(t *testing.T) {
	cmd := exec.Command("sh", "-c", `trap "" HUP; exec procfit lab serve tinyserver --addr 127.0.0.1:0`)
	told := must.Get(cmd.StderrPipe())(t)
	started(t, cmd)
	defer time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }).Stop()
	if lines := bufio.NewScanner(told); !lines.Scan() || !strings.Contains(lines.Text(), "Addr=") {
		t.Fatalf("it prints %q", lines.Text())
	}
	_, ignored, _ := strings.Cut(must.Read(t, fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)), "SigIgn:")
	if mask, err := strconv.ParseUint(strings.Fields(ignored)[0], 16, 64); err != nil || mask>>(syscall.SIGHUP-1)&1 == 0 {
		t.Errorf("ignored signals %x, %v: SIGHUP is not among them", mask, err)
	}
}

// until waits for a condition.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

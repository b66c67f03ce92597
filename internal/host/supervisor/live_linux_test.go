//go:build !portable

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/test/must"
)

// self is the command that plays a part.
func self(part ...string) []string {
	return append([]string{"/proc/self/exe", playArg}, part...)
}

// begin starts a target that is stopped at the end of the test.
func begin(t *testing.T, spec Spec) *Process {
	t.Helper()
	p := must.Get(Start(t.Context(), spec))(t)
	t.Cleanup(func() { p.Stop(0) })
	return p
}

// finish waits for a target that ends by itself, and returns its output too.
func finish(t *testing.T, spec Spec) (Exit, string) {
	t.Helper()
	p := begin(t, spec)
	exit := wait(t, p)
	return exit, p.LastWords(1000).Text
}

func wait(t *testing.T, p *Process) Exit {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(30 * time.Second):
		t.Fatal("the target has not ended after 30 s")
	}
	return must.Get(p.Wait())(t)
}

// assertGone fails for each process that is there and no zombie.
func assertGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if lives(pid) {
			t.Errorf("process %d is still there", pid)
			unix.Kill(pid, unix.SIGKILL)
		}
	}
}

func TestExitCodesAndSignals(t *testing.T) {
	for _, test := range []struct {
		command []string
		code    int
		signal  string
	}{
		{[]string{"true"}, 0, ""},
		{self("exit", "3"), 3, ""},
		{self("exit", "255"), 255, ""},
		{[]string{"sh", "-c", "kill -KILL $$"}, -1, "SIGKILL"},
		{[]string{"sh", "-c", "kill -SEGV $$"}, -1, "SIGSEGV"},
	} {
		exit, _ := finish(t, Spec{Command: test.command})
		if exit.Code != test.code || exit.Signal != test.signal || exit.Killed {
			t.Errorf("%q: code %d, signal %q, killed %v; want %d, %q, false", test.command, exit.Code, exit.Signal, exit.Killed, test.code, test.signal)
		}
	}
}

func TestStop(t *testing.T) {
	for _, test := range []struct {
		part   string
		grace  time.Duration
		killed bool
		code   int
		signal string
	}{
		{"graceful", 20 * time.Second, false, 7, ""},
		{"stubborn", 50 * time.Millisecond, true, -1, "SIGKILL"},
	} {
		t.Run(test.part, func(t *testing.T) {
			t.Parallel()
			p := begin(t, Spec{Command: self(test.part)})
			awaitOutput(t, p, "ready", 1)
			exit, err := p.Stop(test.grace)
			if err != nil || exit.Killed != test.killed || exit.Code != test.code || exit.Signal != test.signal {
				t.Errorf("got %+v, %v, want killed %v, code %d, signal %q", exit, err, test.killed, test.code, test.signal)
			}
			if again, err := p.Stop(0); err != nil || again.Code != exit.Code {
				t.Errorf("the second Stop says %+v, %v", again, err)
			}
		})
	}
}

// A second Stop without patience cuts the first one's grace short.
func TestStopAgainIsSooner(t *testing.T) {
	p := begin(t, Spec{Command: self("stubborn")})
	awaitOutput(t, p, "ready", 1)
	first := make(chan Exit)
	go func() { exit, _ := p.Stop(time.Hour); first <- exit }()
	awaitOutput(t, p, "asked to end", 1)
	p.Stop(0)
	select {
	case exit := <-first:
		if !exit.Killed {
			t.Errorf("got %+v, want killed", exit)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the first Stop still waits")
	}
}

func TestDescendantsDie(t *testing.T) {
	ended := filepath.Join(t.TempDir(), "end")
	for _, test := range []struct {
		name    string
		command []string
		stop    bool
	}{
		{"with Stop", self("fork", "sleep"), true},
		{"with Stop, being orphans", self("orphan"), true},
		{"when the target ends by itself", self("fork", "until", ended), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := begin(t, Spec{Command: test.command})
			awaitOutput(t, p, "ready", 2) // of the two that fork starts
			pids, err := p.Descendants()
			if err != nil || len(pids) < 3 {
				t.Fatalf("descendants %v, %v; want the target and two", pids, err)
			}
			if test.stop {
				if _, err := p.Stop(20 * time.Millisecond); err != nil {
					t.Error(err)
				}
			} else if err := os.WriteFile(ended, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			wait(t, p)
			assertGone(t, append(pids, p.line.pid))
		})
	}
}

// owner starts another procfit, and returns it with the supervisor and the
// processes below that.
func owner(t *testing.T, procs string, command []string) (*exec.Cmd, []int) {
	t.Helper()
	cmd, line := startPlay(t, "PROCFIT_TEST_PROCS="+procs, append([]string{"own"}, command...)...)
	var pids []int
	for _, field := range strings.Fields(strings.NewReplacer("[", " ", "]", " ").Replace(line)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	if len(pids) < 2 {
		t.Fatalf("the owner says %q", line)
	}
	return cmd, pids
}

func TestDescendantsDieWithProcfit(t *testing.T) {
	for _, number := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV} {
		cmd, pids := owner(t, "", self("orphan"))
		cmd.Process.Signal(number)
		cmd.Wait()
		assertGoneSoon(t, pids)
	}
}

// lives reports whether a process has any thread left: the first one may have ended, and
// the others still hold its files.
func lives(pid int) bool {
	p, err := procstat.ReadStat(pid)
	if err != nil || !p.Ended() {
		return err == nil
	}
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return len(threads) > 1
}

func assertGoneSoon(t *testing.T, pids []int) {
	t.Helper()
	if !happens(func() bool { return !slices.ContainsFunc(pids, lives) }) {
		assertGone(t, pids)
	}
}

func TestContextKills(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := must.Get(Start(ctx, Spec{Command: self("stubborn")}))(t)
	cancel()
	if exit := wait(t, p); !exit.Killed {
		t.Errorf("got %+v, want killed", exit)
	}
	if _, err := Start(ctx, Spec{Command: self("sleep")}); !errors.Is(err, context.Canceled) {
		t.Errorf("start with a context that is done: %v", err)
	}
}

func TestFlood(t *testing.T) {
	const megabytes, limit = 200, 64 << 10
	path := filepath.Join(t.TempDir(), "log")
	log := must.Get(os.Create(path))(t)
	p := begin(t, Spec{Command: self("flood", strconv.Itoa(megabytes)), Log: log, LogLimit: limit})
	log.Close()
	peak := int64(0)
	for running := true; running; {
		select {
		case <-p.Done():
			running = false
		case <-time.After(10 * time.Millisecond):
			peak = max(peak, rss(p.line.pid))
		}
	}
	exit := wait(t, p)
	if want := int64(megabytes<<20 + len("the first line\nthe last line\n")); exit.OutputBytes != want {
		t.Errorf("%d bytes of output counted, want %d", exit.OutputBytes, want)
	}
	data := must.Get(os.ReadFile(path))(t)
	head, tail, found := strings.Cut(string(data), "\n[procfit: ")
	left, tail, whole := strings.Cut(tail, " bytes skipped]\n")
	if !found || !whole || !exit.LogCut || len(head)+len(tail) > limit || len(head)+len(tail) < limit-2<<10 ||
		left != strconv.FormatInt(exit.OutputBytes-int64(len(head)+len(tail)), 10) {
		t.Errorf("the log has %d and %d bytes with %s left out between them; cut: %v", len(head), len(tail), left, exit.LogCut)
	}
	for line := range strings.Lines(head + "\n" + tail) {
		if n := len(line); n != 1024 && line != "the first line\n" && line != "the last line\n" && n > 1 {
			t.Fatalf("a line of %d bytes", n)
		}
	}
	if s := string(data); !strings.HasPrefix(s, "the first line\n") || !strings.HasSuffix(s, "\nthe last line\n") {
		t.Error("the log lacks its first or last line")
	}
	if got := p.LastWords(1).Text; got != "the last line" {
		t.Errorf("tail %q", got)
	}
	// The race detector's own memory is several times the program's.
	if most := int64(150 << 20); peak > most {
		t.Errorf("the supervisor took %d bytes of memory, more than %d", peak, most)
	}
}

func rss(pid int) int64 {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	var size, resident int64
	fmt.Sscan(string(data), &size, &resident)
	return resident * int64(os.Getpagesize())
}

func TestEnvironmentDirectoryArguments(t *testing.T) {
	_, out := finish(t, Spec{Command: self("env"), Env: []string{"A=1", "B=2", "A=3"}})
	if out != "B=2\nA=3" {
		t.Errorf("environment %q", out)
	}
	dir := t.TempDir()
	if _, out := finish(t, Spec{Command: []string{"pwd"}, Dir: dir}); out != dir {
		t.Errorf("directory %q, want %q", out, dir)
	}
	if _, out := finish(t, Spec{Command: self("print", "a b", "", "$HOME", "\xff")}); out != "a b\n\n$HOME\n\\xff" {
		t.Errorf("arguments %q", out)
	}
	if _, out := finish(t, Spec{Command: []string{"cat"}}); out != "" {
		t.Errorf("cat read %q from its standard input", out)
	}
}

// What procfit inherited as ignored or blocked is not the target's.
func TestSignalsAreDefault(t *testing.T) {
	signal.Ignore(unix.SIGTTOU, unix.SIGUSR2)
	defer signal.Reset(unix.SIGTTOU, unix.SIGUSR2)
	_, out := finish(t, Spec{Command: []string{"grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"}})
	for line := range strings.Lines(out) {
		name, mask, _ := strings.Cut(strings.TrimSpace(line), ":")
		if strings.Trim(mask, " 0") != "" {
			t.Errorf("%s is %s, want none", name, mask)
		}
	}
	if !strings.Contains(out, "SigIgn") {
		t.Errorf("unexpected output %q", out)
	}
}

func TestUsage(t *testing.T) {
	const spin = 200 * time.Millisecond
	exit, _ := finish(t, Spec{Command: []string{"sh", "-c", mustExe(t) + " play spin " + spin.String() + "; exit 4"}})
	if exit.Code != 4 {
		t.Fatalf("got %+v", exit)
	}
	if cpu := exit.User + exit.System; cpu < spin/2 || cpu > 20*spin {
		t.Errorf("CPU time %v of a grandchild that spins for %v", cpu, spin)
	}
	if exit.Wall < spin/2 { // on a busy machine the supervisor learns late that it has begun
		t.Errorf("wall time %v of a command that takes %v", exit.Wall, spin)
	}
	if exit.MaxRSSBytes < spinHolds || exit.VoluntarySwitches < 1 {
		t.Errorf("got %+v", exit)
	}
	if exit, _ := finish(t, Spec{Command: []string{"true"}}); exit.MaxRSSBytes != 0 {
		t.Errorf("a command that needs less memory than the stage had %d bytes", exit.MaxRSSBytes)
	}
}

func mustExe(t *testing.T) string {
	return must.Get(os.Executable())(t)
}

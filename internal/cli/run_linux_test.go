package cli

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// TestRunUnderAQuota: under half a CPU the runtime chooses 2, and a program that run
// starts has 1, in procfit's own process.
func TestRunUnderAQuota(t *testing.T) {
	need.Root(t)
	if runtime.NumCPU() < 2 {
		need.Skip(t, "needs two CPUs")
	}
	g := groupOf(t)
	must.OK(t, g.SetQuota(0.5))
	procfit, program := need.Command(t, "procfit"), need.Command(t, "fakeprocs")
	started := func(args ...string) []string {
		t.Helper()
		cmd := exec.Command("/bin/sh", append([]string{"-c", `echo 0 >"$0" && exec "$@"`, g.ProcsFile()}, args...)...)
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
		out, err := cmd.Output()
		words := strings.Split(strings.TrimSuffix(string(out), "\n"), " ")
		if err != nil || len(words) != 3 || words[1] != strconv.Itoa(cmd.Process.Pid) {
			t.Fatalf("%v: %v, %q of process %d", args, err, out, cmd.Process.Pid)
		}
		return words
	}
	if alone := started(program); alone[0] != "2" || alone[2] != "" {
		t.Errorf("alone: %q, want 2", alone)
	}
	if with := started(procfit, "run", "--", program); with[0] != "1" || with[2] != "1" {
		t.Errorf("started by run: %q, want 1", with)
	}
	// Where the runtime chooses what fits, it goes on following its limit.
	must.OK(t, g.SetQuota(1.5))
	if left := started(procfit, "run", "--", program); left[0] != "2" || left[2] != "" {
		t.Errorf("under 1.5 CPUs: %q, want 2 and no variable", left)
	}
}

// TestRunIsTheProgram: a signal to procfit's PID reaches the program, and its exit code
// is procfit's.
func TestRunIsTheProgram(t *testing.T) {
	cmd := exec.Command(need.Command(t, "procfit"), "run", "--", "sh", "-c", `trap 'echo told; exit 7' TERM; echo $$; while :; do sleep 0.05; done`)
	out := must.Get(cmd.StdoutPipe())(t)
	must.OK(t, cmd.Start())
	defer time.AfterFunc(patience, func() { cmd.Process.Kill() }).Stop()
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != strconv.Itoa(cmd.Process.Pid) {
		t.Errorf("process %q, want %d", lines.Text(), cmd.Process.Pid)
	}
	must.OK(t, cmd.Process.Signal(syscall.SIGTERM))
	if !lines.Scan() || lines.Text() != "told" {
		t.Errorf("%q, want the program's own answer to SIGTERM", lines.Text())
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("exit code %d, want 7: %v", cmd.ProcessState.ExitCode(), err)
	}
}

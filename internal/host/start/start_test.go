//go:build unix

package start

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// The test binary plays procfit when this is set: it starts its arguments.
const part = "PROCFIT_TEST_START"

func TestMain(m *testing.M) {
	if os.Getenv(part) == "" {
		os.Exit(m.Run())
	}
	os.Unsetenv(part)
	signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // as procfit's main does
	code, err := Run(os.Args[1], os.Args[1:], append(os.Environ(), "SET=here"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	os.Exit(code)
}

// started is a command that the test binary starts in its place.
func started(t *testing.T, path string, args ...string) *exec.Cmd {
	t.Helper()
	self := must.Get(os.Executable())(t)
	cmd := exec.Command(self, append([]string{path}, args...)...)
	cmd.Env = append(os.Environ(), part+"=1")
	return cmd
}

// codeOf is the exit code that a shell would show.
func codeOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err == nil {
		return 0
	}
	if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}

func TestExitCodes(t *testing.T) {
	sh := need.Command(t, "sh")
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -KILL $$": 128 + 9, `test "$SET" = here`: 0} {
		out, err := started(t, sh, "-c", script).CombinedOutput()
		if code := codeOf(t, err); code != want || len(out) > 0 {
			t.Errorf("%s: exit code %d, want %d: %s", script, code, want, out)
		}
	}
	out, err := started(t, "/dev/null").CombinedOutput()
	if code := codeOf(t, err); code != 99 || !strings.Contains(string(out), `start "/dev/null": `) {
		t.Errorf("what cannot be started: exit code %d: %s", code, out)
	}
}

// TestSignals: a signal to what was started ends up with the program.
func TestSignals(t *testing.T) {
	cmd := started(t, need.Command(t, "sh"), "-c", `trap 'echo told; exit 9' TERM; echo ready; while :; do sleep 0.05; done`)
	out := must.Get(cmd.StdoutPipe())(t)
	must.OK(t, cmd.Start())
	defer time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }).Stop()
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("%q", lines.Text())
	}
	must.OK(t, cmd.Process.Signal(syscall.SIGTERM))
	if !lines.Scan() || lines.Text() != "told" {
		t.Errorf("%q", lines.Text())
	}
	if code := codeOf(t, cmd.Wait()); code != 9 {
		t.Errorf("exit code %d", code)
	}
}

// TestPlace: by execve it is the same process, and what nohup had ignored stays so.
func TestPlace(t *testing.T) {
	if !inPlace {
		t.Skip("no execve here")
	}
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP) // the tests themselves may run under nohup
	defer signal.Stop(caught)
	cmd := started(t, need.Command(t, "sh"), "-c", "echo $$")
	out, err := cmd.Output()
	if err != nil || strings.TrimSpace(string(out)) != strconv.Itoa(cmd.Process.Pid) {
		t.Errorf("process %s, want %d: %v", out, cmd.Process.Pid, err)
	}
	if out, err = started(t, "/bin/sh", "-c", "kill -HUP $$; echo alive").CombinedOutput(); codeOf(t, err) != 128+int(syscall.SIGHUP) {
		t.Errorf("SIGHUP does not end it: %s, %v", out, err)
	}
	nohup := started(t, "sh", "-c", "kill -HUP $$; echo alive")
	nohup.Args = append([]string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`, nohup.Path, "/bin/sh"}, nohup.Args[2:]...)
	nohup.Path = "/bin/sh"
	if out, err := nohup.CombinedOutput(); err != nil || string(out) != "alive\n" {
		t.Errorf("under nohup: %s, %v", out, err)
	}
}

//go:build !portable

package supervisor

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/test/must"
)

// A process is killed by what it is, not by its number: another start time is
// another process.
func TestKillSparesLaterProcess(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	must.OK(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	all, err := descendants(os.Getpid())
	i := slices.IndexFunc(all, func(p procstat.Stat) bool { return p.PID == cmd.Process.Pid })
	if err != nil || i < 0 {
		t.Fatalf("process %d is not among the descendants %v, %v", cmd.Process.Pid, all, err)
	}
	earlier := all[i]
	earlier.Started--
	kill(earlier)
	// A process that has been killed can no longer be stopped.
	must.OK(t, unix.Kill(cmd.Process.Pid, unix.SIGSTOP))
	var status unix.WaitStatus
	if _, err := unix.Wait4(cmd.Process.Pid, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("killed as its predecessor: %v, status %#x", err, status)
	}
	kill(all[i])
	if err := cmd.Wait(); err == nil {
		t.Error("not killed")
	}
}

// What cannot be killed is looked for at least every 50 ms, and later every few seconds.
func TestPausesGrow(t *testing.T) {
	looks, pause := 0, time.Millisecond
	for taken := time.Duration(0); taken < time.Hour; taken += pause {
		looks++
		if pause = longer(pause, taken); taken < killPatience && pause > 50*time.Millisecond {
			t.Fatalf("a pause of %s after %s", pause, taken)
		}
	}
	if looks > 1000 {
		t.Errorf("%d looks in an hour", looks)
	}
}

//go:build !portable

package supervisor

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
)

// A process is killed by what it is, not by its number: another start time is
// another process.
func TestKillSparesLaterProcess(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	all, err := descendants(os.Getpid())
	i := slices.IndexFunc(all, func(p process) bool { return p.PID == cmd.Process.Pid })
	if err != nil || i < 0 {
		t.Fatalf("process %d is not among the descendants %v, %v", cmd.Process.Pid, all, err)
	}
	earlier := all[i]
	earlier.Started--
	earlier.kill()
	time.Sleep(10 * time.Millisecond) // for a signal to take effect
	if now, err := procstat.ReadStat(cmd.Process.Pid); err != nil || now.Ended() {
		t.Fatal("killed as its predecessor")
	}
	all[i].kill()
	if err := cmd.Wait(); err == nil {
		t.Error("not killed")
	}
}

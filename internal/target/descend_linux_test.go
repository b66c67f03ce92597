package target

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

const statLine = " S 41 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 1"

func TestParseStat(t *testing.T) {
	for _, name := range []string{"bash", "a b", ") R 1 (x", ""} {
		got, ok := parseStat([]byte("7 (" + name + ")" + statLine))
		if want := (process{pid: 7, parent: 41, start: 98765}); !ok || got != want {
			t.Errorf("name %q: got %+v, %v, want %+v", name, got, ok, want)
		}
	}
	for _, data := range []string{"", "7", "7 (x", "(x)" + statLine, "7 (x) S 1", ") 7 (" + statLine, "0 (x)" + statLine} {
		if p, ok := parseStat([]byte(data)); ok {
			t.Errorf("%q was accepted as %+v", data, p)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("7 (a) b)" + statLine))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, ok := parseStat(data); ok && (p.pid < 1 || p.parent < 0) {
			t.Fatalf("%q gives %+v", data, p)
		}
	})
}

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
	i := slices.IndexFunc(all, func(p process) bool { return p.pid == cmd.Process.Pid })
	if err != nil || i < 0 {
		t.Fatalf("process %d is not among the descendants %v, %v", cmd.Process.Pid, all, err)
	}
	earlier := all[i]
	earlier.start--
	earlier.kill()
	time.Sleep(10 * time.Millisecond) // for a signal to take effect
	if now, ok := readProcess(cmd.Process.Pid); !ok || now.zombie {
		t.Fatal("killed as its predecessor")
	}
	all[i].kill()
	if err := cmd.Wait(); err == nil {
		t.Error("not killed")
	}
}

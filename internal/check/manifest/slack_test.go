package manifest

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// spinning is the variable that makes a copy of the test program use all CPU time it gets.
const spinning = "PROCFIT_TEST_SPINS"

var kept [8][]byte

// TestNeverMoreThanGOMAXPROCS measures what PF042 rests on: goroutines that spin and make
// garbage use no more CPU time per second than GOMAXPROCS, with the slack that the rule
// allows. The collector's workers run on Ps like goroutines. The runtime's monitor, its
// threads in short system calls, and the time that the kernel takes to switch threads do
// not, and are the slack. Other load makes the program slower, so it cannot fail the test.
func TestNeverMoreThanGOMAXPROCS(t *testing.T) {
	if os.Getenv(spinning) != "" {
		spin()
		return
	}
	for _, procs := range []string{"1", "2"} {
		child := exec.Command(os.Args[0], "-test.run=^TestNeverMoreThanGOMAXPROCS$")
		child.Env = append(os.Environ(), spinning+"=1", "GOMAXPROCS="+procs)
		start := time.Now()
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		used := (child.ProcessState.UserTime() + child.ProcessState.SystemTime()).Seconds() / time.Since(start).Seconds()
		most := float64(procs[0]-'0') * slack
		t.Logf("GOMAXPROCS=%s: %.3f CPUs of %d", procs, used, runtime.NumCPU())
		if used > most {
			t.Errorf("GOMAXPROCS=%s: %.3f CPUs, want at most %.3f", procs, used, most)
		}
	}
}

func spin() {
	end := time.Now().Add(time.Second)
	done := make(chan bool)
	const goroutines = 8
	for i := range goroutines {
		go func() {
			for n := 0; time.Now().Before(end); n++ {
				kept[i] = make([]byte, 4096) // for the collector
				for x := 1; x < 10000; x++ {
					kept[i][x%4096] += byte(x)
				}
			}
			done <- true
		}()
	}
	for range goroutines {
		<-done
	}
}

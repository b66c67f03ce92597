package cli

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/test/need"
)

// TestLiveKilled: a procfit that is killed at any moment leaves the program at its own value
// as soon as the lease is over.
func TestLiveKilled(t *testing.T) {
	need.Everything(t, "the end of a lease is tested in maxprocs/live, and the experiment's own ends in verdict/live")
	for n := range 10 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			socket, port := filepath.Join(dir, "s"), 11_000+n // below those that scripts take
			server := exec.Command("fakeserver", "-meter", socket, "-max", "4", "-addr", fmt.Sprint("127.0.0.1:", port))
			server.Env = append(os.Environ(), "GOMAXPROCS=2")
			started(t, server)
			go func() { // its traffic
				for t.Context().Err() == nil {
					if a, err := http.Get(fmt.Sprint("http://127.0.0.1:", port)); err == nil {
						a.Body.Close()
					}
					time.Sleep(20 * time.Millisecond)
				}
			}()
			program := meter.Open(socket)
			for from := time.Now(); time.Since(from) < patience; time.Sleep(10 * time.Millisecond) {
				if _, err := program.State(t.Context()); err == nil {
					break
				}
			}
			driver := exec.Command("procfit", "live", socket, "--procs", "1,3,4", "--slice", "1s", "--burn-in", "100ms", "--baseline", "2s", "--out", filepath.Join(dir, "out"))
			started(t, driver)
			for from := time.Now(); time.Since(from) < patience; time.Sleep(10 * time.Millisecond) {
				if s, err := program.State(t.Context()); err == nil && s.Leased {
					break
				}
			}
			time.Sleep(rand.N(8 * time.Second))
			before, err := program.State(t.Context())
			if err != nil || !before.Leased {
				t.Fatalf("%+v, %v", before, err)
			}
			_ = driver.Process.Kill()
			killed := time.Now()
			for {
				s, err := program.State(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				took := time.Since(killed)
				if !s.Leased && s.Procs == 2 {
					t.Logf("at %d when killed, back after %v", before.Procs, took)
					return
				}
				if took > live.LeaseFor+200*time.Millisecond {
					t.Fatalf("%+v %v after the kill", s, took)
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

// started starts a command, and ends it with the test.
func started(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

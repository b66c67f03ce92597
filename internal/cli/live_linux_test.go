package cli

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/test/need"
)

// TestLiveKilled: a procfit that is killed at any moment leaves the program at its own value.
func TestLiveKilled(t *testing.T) {
	need.Everything(t, "a guard that outlives procfit is tested in package steer")
	for n := range 10 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			dir, address := t.TempDir(), freeAddress(t)
			server := exec.Command("fakeserver", "-addr", address)
			server.Env = append(os.Environ(), "GOMAXPROCS=2")
			started(t, server)
			go func() { // its traffic
				for t.Context().Err() == nil {
					if a, err := http.Get("http://" + address + "/cpu"); err == nil {
						a.Body.Close()
					}
				}
			}()
			reader := new(observe.Reader)
			procs := func() int {
				live, err := reader.Procs(server.Process.Pid)
				if err != nil {
					return 0
				}
				return live.Procs
			}
			until(t, "the program", func() bool { return procs() == 2 })
			driver := exec.Command("procfit", "live", fmt.Sprint(server.Process.Pid), "--procs", "1,3,4", "--slice", "1s", "--burn-in", "100ms", "--baseline", "2s", "--yes", "--out", filepath.Join(dir, "out"))
			started(t, driver)
			until(t, "another value", func() bool { return procs() != 2 })
			time.Sleep(time.Duration(n) * 300 * time.Millisecond)
			before := procs()
			_ = driver.Process.Kill()
			killed := time.Now()
			until(t, "its own value", func() bool { return procs() == 2 })
			t.Logf("at %d when killed, back after %v", before, time.Since(killed))
		})
	}
}

// freeAddress is one that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
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

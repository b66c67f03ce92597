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

	"github.com/procfit/procfit/internal/measure/live"
	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/test/need"
)

// TestLiveKilled: a procfit that is killed at any moment leaves the program at its own value
// as soon as the lease is over. One that has ended by then has given the lease back itself.
func TestLiveKilled(t *testing.T) {
	need.Everything(t, "the end of a lease is tested in maxprocs/live, and the experiment's own ends in verdict/live")
	for n := range 10 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			socket, address := filepath.Join(dir, "s"), freeAddress(t)
			server := exec.Command("fakeserver", "-meter", socket, "-max", "4", "-addr", address)
			server.Env = append(os.Environ(), "GOMAXPROCS=2")
			started(t, server)
			go func() { // its traffic
				for t.Context().Err() == nil {
					if a, err := http.Get("http://" + address); err == nil {
						a.Body.Close()
					}
					time.Sleep(20 * time.Millisecond)
				}
			}()
			program := meter.Open(socket)
			until(t, "the program", func() bool {
				_, err := program.State(t.Context())
				return err == nil
			})
			driver := exec.Command("procfit", "live", socket, "--procs", "1,3,4", "--slice", "1s", "--burn-in", "100ms", "--baseline", "2s", "--out", filepath.Join(dir, "out"))
			started(t, driver)
			until(t, "the lease", func() bool {
				s, err := program.State(t.Context())
				return err == nil && s.Leased
			})
			time.Sleep(time.Duration(n) * 800 * time.Millisecond)
			before, err := program.State(t.Context())
			if n == 0 && (err != nil || !before.Leased) {
				t.Errorf("%+v, %v right after the lease was seen", before, err)
			}
			_ = driver.Process.Kill()
			killed := time.Now()
			for {
				asked := time.Since(killed)
				s, err := program.State(t.Context())
				if err == nil && !s.Leased && s.Procs == 2 {
					t.Logf("leased %t at %d when killed, back after %v", before.Leased, before.Procs, asked)
					return
				}
				if asked > live.LeaseFor+latest {
					t.Fatalf("%+v, %v, %v after the kill", s, err, asked)
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

// latest is by how much a timer may be late where other programs use the CPUs.
const latest = 5 * time.Second

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

//go:build !race

// The race detector multiplies the memory of a program.

package memlimit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestHalved lowers a real memory limit to the half while a program grows towards the old
// one: the kernel kills it if GOMEMLIMIT is that of the start, and never if it is watched.
func TestHalved(t *testing.T) {
	files := controller{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"}
	if _, err := os.Stat(files.root); err != nil {
		files = controller{"/sys/fs/cgroup", "memory.max", "memory.peak"}
	}
	probe := filepath.Join(files.root, fmt.Sprintf("memlimit-test-%d", os.Getpid()))
	err := os.Mkdir(probe, 0o755)
	if err == nil {
		_, err = os.Stat(filepath.Join(probe, files.limit))
		os.Remove(probe)
	}
	if err != nil {
		reason := fmt.Sprintf("needs to make a cgroup with the memory controller: %v", err)
		if os.Getenv("PROCFIT_REQUIRE") == "1" {
			t.Fatal("nothing may be skipped here: " + reason)
		}
		t.Skip(reason)
	}
	watched, unwatched := 3, 3
	switch {
	case testing.Short():
	case os.Getenv("PROCFIT_FULL") == "1":
		watched, unwatched = 100, 20
	case os.Getenv("PROCFIT_REQUIRE") == "1":
		watched, unwatched = 40, 20
	}
	for how, runs := range map[string]int{"watch": watched, "set": unwatched} {
		var mu sync.Mutex
		var all sync.WaitGroup
		killed, peak, next := 0, int64(0), make(chan int)
		for worker := 0; worker < 3; worker++ {
			all.Add(1)
			go func() {
				defer all.Done()
				for n := range next {
					dead, most, err := false, int64(0), error(syscall.EBUSY)
					// v1 refuses a limit that comes too late, as on a busy machine.
					for try := 0; try < 5 && errors.Is(err, syscall.EBUSY); try++ {
						dead, most, err = files.halved(fmt.Sprintf("%s-%s-%d-%d", probe, how, n, try), how, time.Duration(rand.Intn(250))*time.Millisecond)
					}
					mu.Lock()
					if err != nil {
						t.Errorf("%s, run %d: %v", how, n, err)
					}
					if dead {
						killed++
					}
					if most > peak {
						peak = most
					}
					mu.Unlock()
				}
			}()
		}
		for n := 0; n < runs; n++ {
			next <- n
		}
		close(next)
		all.Wait()
		t.Logf("%s: %d of %d runs killed; they used at most %d MiB under a limit that fell to %d MiB", how, killed, runs, peak/mib, halvedFrom/2/mib)
		if how == "watch" && killed > 0 || how == "set" && 2*killed < runs {
			t.Errorf("%s: %d of %d runs killed; want none with Watch, and at least half without", how, killed, runs)
		}
	}
}

// controller is where groups with a memory limit are made, and names of their files.
type controller struct{ root, limit, peak string }

// halved runs the program in a group of its own, whose limit falls some time after the
// growth began.
func (c controller) halved(group, how string, after time.Duration) (killed bool, peak int64, err error) {
	if err := os.Mkdir(group, 0o755); err != nil {
		return false, 0, err
	}
	defer func() {
		for i := 0; i < 100 && os.Remove(group) != nil; i++ { // the kernel lets go of the dead a moment later
			time.Sleep(10 * time.Millisecond)
		}
	}()
	write := func(file string, n int) error {
		return os.WriteFile(filepath.Join(group, file), []byte(strconv.Itoa(n)), 0o644)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), grow+"="+how, "GOMEMLIMIT=")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return false, 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, 0, err
	}
	if err := cmd.Start(); err != nil {
		return false, 0, err
	}
	err = firstError(func() error { return write(c.limit, halvedFrom) },
		func() error { return write("cgroup.procs", cmd.Process.Pid) },
		func() error { _, err := io.WriteString(in, "begin\n"); return err },
		func() error {
			line, err := bufio.NewReader(out).ReadString('\n')
			if want := strconv.Itoa(halvedFrom / 10 * 9); err == nil && !near(strings.TrimSpace(line), want) {
				err = fmt.Errorf("it began with a GOMEMLIMIT of %q, want %s", line, want)
			}
			return err
		},
		func() error {
			time.Sleep(after)
			return write(c.limit, halvedFrom/2)
		})
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		return false, 0, err
	}
	var exit *exec.ExitError
	if err = cmd.Wait(); errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
			killed, err = true, nil
		}
	}
	text, _ := os.ReadFile(filepath.Join(group, c.peak))
	peak, _ = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return killed, peak, err
}

// near compares the first digits: nine tenths are rounded.
func near(got, want string) bool { return len(got) == len(want) && got[:6] == want[:6] }

func firstError(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

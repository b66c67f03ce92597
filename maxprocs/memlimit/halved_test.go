package memlimit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// grow is the variable by which TestMain is asked to be a program whose live heap is
// small and whose garbage grows to its GOMEMLIMIT; it says how that is set.
const grow = "MEMLIMIT_TEST_GROW"

const (
	halvedFrom = 128 * mib
	growth     = 160 * mib // allocated in all
	growthRate = 100 * mib // a second
)

var garbage []byte

// grown is that program: it begins once it is told on standard input that it is in its
// group, says so, and ends when it has allocated all.
func grown(how string) {
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	debug.SetGCPercent(-1)
	if how == "watch" {
		taken := make(chan struct{})
		var once sync.Once
		go Watch(context.Background(), OnChange(func(Result) { once.Do(func() { close(taken) }) }))
		<-taken
	} else if _, err := Set(); err != nil {
		panic(err)
	}
	fmt.Println(debug.SetMemoryLimit(-1))
	const chunk = 64 << 10
	begun := time.Now()
	for n := 0; n < growth; n += chunk {
		garbage = make([]byte, chunk)
		for i := 0; i < chunk; i += 4096 {
			garbage[i] = 1
		}
		if ahead := time.Duration(n)*time.Second/growthRate - time.Since(begun); ahead > time.Millisecond {
			time.Sleep(ahead)
		}
	}
}

// TestHalved lowers a real memory limit to the half while a program grows towards the old
// one: the kernel kills it if GOMEMLIMIT is that of the start, and never if it is watched.
func TestHalved(t *testing.T) {
	const root = "/sys/fs/cgroup/memory"
	probe := filepath.Join(root, fmt.Sprintf("memlimit-test-%d", os.Getpid()))
	if err := os.Mkdir(probe, 0o755); err != nil {
		reason := fmt.Sprintf("needs to make a group of the memory controller of cgroup v1: %v", err)
		if os.Getenv("PROCFIT_REQUIRE") == "1" {
			t.Fatal("nothing may be skipped here: " + reason)
		}
		t.Skip(reason)
	}
	os.Remove(probe)
	runs := 3
	if os.Getenv("PROCFIT_REQUIRE") == "1" && !testing.Short() {
		runs = 100
	}
	for _, how := range []string{"watch", "set"} {
		var mu sync.Mutex
		var all sync.WaitGroup
		killed, peak, next := 0, int64(0), make(chan int)
		for worker := 0; worker < 3; worker++ {
			all.Add(1)
			go func() {
				defer all.Done()
				for n := range next {
					dead, most, err := halved(fmt.Sprintf("%s-%s-%d", probe, how, n), how, time.Duration(rand.Intn(250))*time.Millisecond)
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

// halved runs the program in a group of its own, whose limit falls some time after the
// growth began.
func halved(group, how string, after time.Duration) (killed bool, peak int64, err error) {
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
	err = firstError(func() error { return write("memory.limit_in_bytes", halvedFrom) },
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
			return write("memory.limit_in_bytes", halvedFrom/2)
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
	text, _ := os.ReadFile(filepath.Join(group, "memory.max_usage_in_bytes"))
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

package cli

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/measure/live"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// TestWatchUnseen: what cannot be seen of a program is printed before it is watched.
func TestWatchUnseen(t *testing.T) {
	program := must.Get(live.Watch(must.Get(steer.Identify(os.Getpid()))(t), steer.Value{}))(t)
	defer program.Close()
	program.Blind = []string{"requests that wait in sockets: permission denied"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs strings.Builder
	std := newStdio(ctx, nil, &out, &errs, nil)
	o := newLiveOptions()
	o.operands = []string{fmt.Sprint(os.Getpid())}
	c := running(2)
	c.subject.PID = os.Getpid()
	if err := o.watch(ctx, std, c, program); out.Len() == 0 || !strings.Contains(errs.String(), "not seen: requests that wait in sockets: permission denied\n") {
		t.Errorf("%v\n%s\n%s", err, errs.String(), out.String())
	}
}

// TestSharedPort: a port is no name for one of several processes that listen there.
func TestSharedPort(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	f := must.Get(l.(*net.TCPListener).File())(t)
	var pids []string
	for range 2 {
		worker := exec.Command("fakeserver", "-addr", freeAddress(t))
		worker.ExtraFiles = []*os.File{f}
		started(t, worker)
		pids = append(pids, fmt.Sprint(worker.Process.Pid))
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	f.Close()
	for _, c := range []struct {
		args []string
		code int
		want string // before the processes
	}{
		{[]string{"set", ":" + port, "1", "--yes"}, exitUsage, `":` + port + `" matches 2 processes: name one by its process ID: `},
		{[]string{"live", ":" + port}, exitUsage, `":` + port + `" matches 2 processes: name one by its process ID: `},
		{[]string{"ps", ":" + port, "--interval", "0"}, 0, "PID"},
		{[]string{"explain", ":" + port}, 0, "process "},
	} {
		code, out, errs := callMain(t, c.args...)
		for _, want := range append(pids, c.want) {
			if code != c.code || !strings.Contains(out+errs, want) {
				t.Errorf("%q: exit code %d, and no %q in\n%s%s", c.args, code, want, out, errs)
			}
		}
	}
}

// TestKilled: a procfit that is killed at any moment leaves the program at its own value within
// 5 s, or with set at the value that stays, and no request is lost.
func TestKilled(t *testing.T) {
	need.Everything(t, "a guard that outlives procfit is tested in package steer")
	t.Parallel()
	rounds, longest := 9, time.Duration(0)
	if need.Whole() {
		rounds = 100
	}
	commands := []killed{
		{[]string{"set", "4", "--yes"}, time.Second, true},
		{[]string{"set", "4", "--for", "10m", "--yes"}, 2 * time.Second, false},
		{[]string{"live", "--procs", "1,3,4", "--slice", "1s", "--burn-in", "100ms", "--baseline", "2s", "--yes", "--out", "out"}, 8 * time.Second, false},
	}
	reached := map[string]int{}
	var mu sync.Mutex
	for first := 0; first < rounds; first += len(commands) { // a few at a time: they mostly wait
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			for n := first; n < min(first+len(commands), rounds); n++ {
				c := commands[n%len(commands)]
				t.Run(fmt.Sprint(c.args[0], n), func(t *testing.T) {
					t.Parallel()
					before, back := c.kill(t)
					mu.Lock()
					defer mu.Unlock()
					if longest = max(longest, back); before != 2 {
						reached[c.args[0]]++
					}
				})
			}
		})
	}
	t.Logf("%d kills, %v of them at another value; its own value was back within %v", rounds, reached, longest)
}

// killed is a command that is killed while it changes a program, which has 2 of itself.
type killed struct {
	args   []string
	within time.Duration // it is killed
	stays  bool          // the value that it sets
}

// kill starts a program under requests and the command, kills that, and returns the program's
// GOMAXPROCS just before, and how long after that it was another than its own.
func (c killed) kill(t *testing.T) (before int, back time.Duration) {
	t.Helper()
	address := freeAddress(t)
	server := exec.Command("fakeserver", "-addr", address)
	server.Env = append(os.Environ(), "GOMAXPROCS=2")
	started(t, server)
	reader := new(observe.Reader)
	procs := func() int {
		live, err := reader.Live(server.Process.Pid)
		if err != nil {
			return 0
		}
		return live.Procs
	}
	until(t, "the program", func() bool {
		a, err := http.Get("http://" + address + "/cpu")
		if err == nil {
			a.Body.Close()
		}
		return err == nil && procs() == 2
	})
	defer keepAsking(t, "http://"+address+"/cpu")()
	driver := exec.Command("procfit", slices.Insert(slices.Clone(c.args), 1, fmt.Sprint(server.Process.Pid))...)
	driver.Dir = t.TempDir()
	started(t, driver)
	moment := rand.N(c.within)
	time.Sleep(moment)
	before = procs()
	_ = driver.Process.Kill()
	gone, last := time.Now(), time.Time{} // when it was seen at another value
	for time.Since(gone) < 7*time.Second && (time.Since(last) < 2*time.Second || time.Since(gone) < 2*time.Second) {
		now := procs()
		if now != 2 && !(c.stays && now == 4) {
			last = time.Now()
		}
		time.Sleep(10 * time.Millisecond)
	}
	back = max(0, last.Sub(gone))
	if back > 5*time.Second {
		t.Errorf("%v: killed after %v, at %d: GOMAXPROCS was %d still after 5 s", c.args, moment, before, procs())
	}
	until(t, "the end of tracing", func() bool {
		tracing, err := procstat.ReadTracing(server.Process.Pid)
		return err == nil && tracing.Tracer == 0
	})
	return before, back
}

// keepAsking sends requests, none of which may fail or take a minute, until it is stopped. The
// pauses leave CPU time to others.
func keepAsking(t *testing.T, url string) (stop func()) {
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	client := &http.Client{Timeout: time.Minute}
	all.Go(func() {
		for ctx.Err() == nil {
			a, err := client.Get(url)
			if err != nil {
				t.Errorf("a request failed: %v", err)
				return
			}
			a.Body.Close()
			time.Sleep(5 * time.Millisecond)
		}
	})
	return func() { cancel(); all.Wait() }
}

// freeAddress is one that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().String()
}

// started starts a command, and ends it with the test.
func started(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

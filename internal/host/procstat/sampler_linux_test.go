//go:build !portable

package procstat

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/test/child"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// The test program itself is also the program that is measured: for each line of
// its input it does what the line says and answers.
func TestMain(m *testing.M) {
	if os.Getenv("PROCSTAT_WORKER") == "1" {
		work()
		return
	}
	if kind, file, ok := strings.Cut(os.Getenv("PROCSTAT_PROGRAM"), " "); ok {
		program(kind, file)
		return
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // for the processes that it starts: a second each, otherwise
	os.Exit(m.Run())
}

const (
	sleepers = 4
	sleeps   = 50
	burn     = 100 * time.Millisecond
)

func work() {
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); fmt.Println("done") {
		switch in.Text() {
		case "sleep": // in threads that then end
			threads(sleepers, func() {
				for range sleeps {
					unix.Nanosleep(&unix.Timespec{Nsec: 100_000}, nil)
				}
			})
		case "stay":
			staying(20, func() {})
		case "burn":
			spin()
		case "crowd": // two threads on one CPU
			var all, one unix.CPUSet
			unix.SchedGetaffinity(0, &all)
			for cpu := 0; one.Count() == 0; cpu++ {
				if all.IsSet(cpu) {
					one.Set(cpu)
				}
			}
			staying(2, func() {
				unix.SchedSetaffinity(0, &one)
				spin()
			})
		}
	}
}

// staying runs f in n threads, which are there until the end.
func staying(n int, f func()) {
	var done sync.WaitGroup
	for range n {
		done.Add(1)
		go func() {
			runtime.LockOSThread()
			f()
			done.Done()
			select {}
		}()
	}
	done.Wait()
}

// threads runs f in n threads, which then end.
func threads(n int, f func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			runtime.LockOSThread()
			f()
		})
	}
	wg.Wait()
}

// spin uses CPU time of this thread.
func spin() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cpu := func() time.Duration {
		var ts unix.Timespec
		unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
		return time.Duration(ts.Nano())
	}
	for end := cpu() + burn; cpu() < end; {
	}
}

type worker struct {
	t testing.TB
	*child.Child
}

func startWorker(t testing.TB) *worker {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "PROCSTAT_WORKER=1", "GOMAXPROCS=4")
	cmd.Stderr = os.Stderr
	w := &worker{t, child.Start(t, cmd)}
	w.answers("ready")
	return w
}

func (w *worker) does(what string) {
	w.t.Helper()
	must.Get(fmt.Fprintln(w.In, what))(w.t)
	w.answers("done")
}

func (w *worker) answers(want string) {
	w.t.Helper()
	if got := w.Line(); got != want {
		w.t.Fatalf("the worker answers %q; want %q", got, want)
	}
}

// each runs the test with each source.
func each(t *testing.T, f func(t *testing.T, s *Sampler)) {
	t.Run("tasks", func(t *testing.T) {
		f(t, &Sampler{why: errors.New("not wanted here")})
	})
	t.Run("taskstats", func(t *testing.T) {
		s := must.Get(NewSampler())(t)
		defer s.Close()
		if source, why := s.Source(); source != Taskstats {
			need.Skip(t, "needs taskstats: "+why.Error())
		}
		f(t, s)
	})
}

func span(t *testing.T, s *Sampler, pids ...int) *Span {
	t.Helper()
	return must.Get(s.Start(pids))(t)
}

func TestSpan(t *testing.T) {
	each(t, func(t *testing.T, s *Sampler) {
		w := startWorker(t)
		w.does("burn")
		const times = 4 // the runtime's monitor alone sleeps up to 100 times after a piece of work
		for range times {
			w.does("sleep")
		}

		sp := span(t, s, w.PID())
		sp.Look([]int{w.PID()})
		if u := sp.Delta(); u.Processes != 1 || u.ThreadsMax < 2 || u.Voluntary >= times*sleeps || u.User+u.System >= burn/2 {
			t.Errorf("what came before the span counts: %+v", u)
		}

		w.does("sleep")
		sp.Look([]int{w.PID()})
		// Only taskstats knows threads that have ended.
		if u := sp.Delta(); u.Source == Taskstats && u.Voluntary < sleepers*sleeps {
			t.Errorf("%d voluntary switches, want %d or more", u.Voluntary, sleepers*sleeps)
		}

		sp = span(t, s, w.PID())
		w.does("burn")
		sp.Look([]int{w.PID()})
		if u := sp.Delta(); u.User+u.System < burn-2*tick || u.Duration < burn {
			t.Errorf("CPU time %v + %v in %v, want %v", u.User, u.System, u.Duration, burn)
		}

		w.does("stay")
		sp.Look([]int{w.PID(), os.Getpid()})
		if u := sp.Delta(); u.ThreadsMax < 22 || u.Processes != 2 || u.Uncounted != 0 {
			t.Errorf("%d threads, %d processes, %d uncounted", u.ThreadsMax, u.Processes, u.Uncounted)
		}
	})
}

// TestSpanRunQueueWait has two threads want one CPU: while one runs, the other
// waits, so each waits about as long as the other runs.
func TestSpanRunQueueWait(t *testing.T) {
	each(t, func(t *testing.T, s *Sampler) {
		w := startWorker(t)
		sp := span(t, s, w.PID())
		w.does("crowd")
		sp.Look([]int{w.PID()})
		if u := sp.Delta(); u.RunQueueWait < burn*3/4 || u.Involuntary < 5 {
			t.Errorf("waited %v with %d involuntary switches, want %v or more", u.RunQueueWait, u.Involuntary, burn)
		}
	})
}

// TestSpanMembers has processes begin and end within the span.
func TestSpanMembers(t *testing.T) {
	each(t, func(t *testing.T, s *Sampler) {
		before := startWorker(t)
		before.does("burn")
		unknown := startWorker(t)
		unknown.does("burn")
		time.Sleep(2 * tick) // so that what follows begins in a later tick

		sp := span(t, s, before.PID())
		within := startWorker(t)
		within.does("burn")
		sp.Look([]int{before.PID(), within.PID(), unknown.PID()})
		if u := sp.Delta(); u.Processes != 3 || u.User+u.System < burn-2*tick || u.User+u.System > 2*burn-2*tick {
			t.Errorf("%d processes used %v + %v, want 3 and %v of the one that began within", u.Processes, u.User, u.System, burn)
		}
		saw := sp.Delta()
		within.End()
		sp.Look([]int{before.PID(), within.PID()})
		if u := sp.Delta(); u.Processes != 3 || u.User < saw.User || u.Voluntary < saw.Voluntary {
			t.Errorf("a process has ended and is forgotten: %+v, before %+v", u, saw)
		}
	})
}

// TestEndedWhileRead: a process that ends between the reading of its stat and that of its counters, as those do that a
// shell script starts, does not make what the others waited unknown.
func TestEndedWhileRead(t *testing.T) {
	each(t, func(t *testing.T, s *Sampler) {
		w := startWorker(t)
		sp, stat := span(t, s), must.Get(ReadStat(w.PID()))(t)
		w.End()
		r := must.Get(sp.read(stat))(t)
		if u := r.Since(Reading{}); u.Uncounted != 0 {
			t.Errorf("%+v", u)
		}
	})
}

// TestTaskstatsDenied has a thread without CAP_NET_ADMIN choose its source.
func TestTaskstatsDenied(t *testing.T) {
	need.AsNobody(t, func() {
		s, err := NewSampler()
		if err != nil {
			t.Error(err)
			return
		}
		defer s.Close()
		if source, why := s.Source(); source != Tasks || why == nil || !strings.HasPrefix(why.Error(), "taskstats: ") {
			t.Errorf("source %s, because %v", source, why)
		}
	})
}

func TestHost(t *testing.T) {
	h := must.Get(Host())(t)
	if h.Hostname == "" || h.Kernel == "" || h.CPUs < 1 || h.CPUs < runtime.NumCPU() || h.MemoryBytes < 1<<24 {
		t.Errorf("read %+v", h)
	}
	before := must.Get(ReadCPU())(t)
	spin()
	after := must.Get(ReadCPU())(t)
	if use := after.Since(before); use.BusyRatio <= 0 || use.BusyRatio > 1 || after.Total-before.Total < burn/2 {
		t.Errorf("%+v over %v", use, after.Total-before.Total)
	}
}

func FuzzReply(f *testing.F) {
	f.Add([]byte{8, 0, 5, 0, 4, 0, 3, 0})
	f.Add(append([]byte{0x28, 1, 5, 0, 0x24, 1, 3, 0}, make([]byte, 288)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, ok, err := parseReply(b); (ok && err != nil) || c.wait < 0 || c.voluntary < 0 || c.involuntary < 0 {
			t.Errorf("%+v, %v, %v", c, ok, err)
		}
	})
}

// TestReadOnce: the status of a process that is in many groups is longer than 4 KiB.
func TestReadOnce(t *testing.T) {
	for _, size := range []int{0, 1, 4095, 4096, 4097, 100_000} {
		name, want := t.TempDir()+"/status", strings.Repeat("x", size)
		must.OK(t, os.WriteFile(name, []byte(want), 0o600))
		if got, err := readOnce(name); err != nil || string(got) != want {
			t.Errorf("%d bytes of %d, %v", len(got), size, err)
		}
	}
}

// Two tenants, for document 000's "per-tenant GOMAXPROCS is not a thing": a quiet one,
// whose requests come at a steady rate and take some 0.1 ms, and a busy one that
// computes on whatever it gets. What is measured is how long the quiet one's requests
// take, from when each was due, next to the busy one and alone. -how says what lies
// between the two:
//
//	together   nothing: they are goroutines of one process
//	pinned     one process; the quiet one has threads, and they have a CPU of their own
//	processes  two processes, the quiet one with a GOMAXPROCS of 1
//
// With quiet or busy it is that tenant alone, in the group that whoever starts it has made.
package tenants

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

// steps are those of a request: some 0.1 ms.
const steps = 100_000

type options struct {
	how  string
	d    time.Duration
	rate float64
	cpus []int // that the process may run on, before anything is pinned
}

// workers are the quiet tenant's goroutines: that many requests at one time are more than
// it has as a rule.
const workers = 4

// quiet answers requests that are due at a steady rate and returns the 99th percentile
// of how long each took from when it was due, in nanoseconds.
func (o options) quiet() (p99 int64, err error) {
	pinned := o.how == "pinned"
	if pinned {
		if err := o.pinRest(); err != nil {
			return 0, err
		}
	}
	due := make(chan time.Time, 1000)
	began := make(chan error, workers)
	var mu sync.Mutex
	var took []time.Duration
	wrong := 0
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var err error
			if pinned {
				runtime.LockOSThread() // its thread ends with it
				err = o.pinSelf()
			}
			began <- err
			for at := range due {
				ok := harness.Sum(steps)
				d := time.Since(at)
				mu.Lock()
				if took = append(took, d); !ok {
					wrong++
				}
				mu.Unlock()
			}
		}()
	}
	for w := 0; w < workers; w++ {
		err = errors.Join(err, <-began)
	}
	start := time.Now()
	for i := 1; err == nil; i++ {
		at := start.Add(time.Duration(float64(i) / o.rate * float64(time.Second)))
		if at.Sub(start) > o.d && i > 1 {
			break
		}
		time.Sleep(time.Until(at))
		due <- at
	}
	close(due)
	wg.Wait()
	if err == nil && wrong > 0 {
		err = fmt.Errorf("%d of %d sums are wrong", wrong, len(took))
	}
	if err != nil {
		return 0, err
	}
	slices.Sort(took)
	return took[(len(took)-1)*99/100].Nanoseconds(), nil
}

// A busy tenant computes with more goroutines than there are CPUs, until it is stopped.
type busy struct {
	stop  atomic.Bool
	sums  atomic.Int64
	wg    sync.WaitGroup
	start time.Time
}

func startBusy() *busy {
	b := &busy{start: time.Now()}
	for i := 0; i < 2*runtime.NumCPU(); i++ {
		b.wg.Add(1)
		go func() {
			defer b.wg.Done()
			for !b.stop.Load() {
				if harness.Sum(steps) {
					b.sums.Add(1)
				}
			}
		}()
	}
	return b
}

// end returns what a sum took of the tenant's time.
func (b *busy) end() (perSum float64) {
	elapsed := time.Since(b.start)
	b.stop.Store(true)
	b.wg.Wait()
	return float64(elapsed.Nanoseconds()) / float64(max(1, b.sums.Load()))
}

// taskset asks the command of that name, as the document does.
func taskset(args ...string) error {
	out, err := exec.Command("taskset", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("taskset %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// allowed are the CPUs that the process may run on.
func allowed() (cpus []int, err error) {
	list := harness.ProcLine("status", "Cpus_allowed_list:")
	for _, part := range strings.Split(list, ",") {
		low, high, ranged := strings.Cut(part, "-")
		if !ranged {
			high = low
		}
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("/proc/self/status: CPUs %q: %w", list, err)
		}
		for n := from; n <= to; n++ {
			cpus = append(cpus, n)
		}
	}
	return cpus, nil
}

// pinRest leaves the last CPU to the quiet tenant's threads, which pinSelf gives it to.
func (o options) pinRest() error {
	if len(o.cpus) < 2 {
		return fmt.Errorf("CPUs %v: one for each tenant takes two", o.cpus)
	}
	var rest []string
	for _, n := range o.cpus[:len(o.cpus)-1] {
		rest = append(rest, strconv.Itoa(n))
	}
	return taskset("-acp", strings.Join(rest, ","), strconv.Itoa(os.Getpid()))
}

func (o options) pinSelf() error {
	thread, err := os.Readlink("/proc/thread-self") // PID/task/TID
	if err != nil {
		return err
	}
	return taskset("-cp", strconv.Itoa(o.cpus[len(o.cpus)-1]), filepath.Base(thread))
}

// outside measures the quiet tenant as a process of its own, by command.
func (o options) outside(command []string) (p99 int64, err error) {
	cmd := exec.Command(command[0], append(command[1:], "-how", "quiet", "-d", o.d.String(), "-rate", strconv.FormatFloat(o.rate, 'g', -1, 64))...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("the quiet tenant: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	_, err = fmt.Sscanf(stdout.String(), quietLine, &p99, &p99)
	return p99, err
}

// quietLine is what the quiet tenant prints when it is alone.
const quietLine = "BenchmarkTenants/quiet 1 %d ns/op %d p99-ns"

// self is what this program was started by, without its own arguments.
func self(args []string) ([]string, error) {
	n := len(os.Args) - len(args)
	if n < 1 || !slices.Equal(os.Args[n:], args) {
		return nil, errors.New("two processes take one that is started for this alone")
	}
	path, err := os.Executable()
	return append([]string{path}, os.Args[1:n]...), err
}

// measure returns the quiet tenant's 99th percentiles, and what a sum took of the busy
// one's time.
func (o options) measure(b *harness.Batch) (beside, alone int64, perSum float64, err error) {
	quiet := func() (int64, error) { return o.quiet() }
	switch o.how {
	case "pinned":
		if o.cpus, err = allowed(); err != nil {
			return 0, 0, 0, err
		}
	case "processes":
		command, err := self(b.Args)
		if err != nil {
			return 0, 0, 0, err
		}
		quiet = func() (int64, error) { return o.outside(command) }
	}
	busy := startBusy()
	beside, err = quiet()
	perSum = busy.end()
	if err == nil {
		alone, err = quiet()
	}
	return beside, alone, perSum, err
}

// one is one of the tenants, next to whatever runs there.
func (o options) one(b *harness.Batch) error {
	if o.how == "busy" {
		busy := startBusy()
		time.Sleep(o.d)
		b.Result("BenchmarkTenants/busy 1 %.0f ns/op", busy.end())
		return nil
	}
	p99, err := o.quiet()
	if err == nil {
		b.Result(quietLine, p99, p99)
	}
	return err
}

func Program(b *harness.Batch) func() error {
	var o options
	ways := []string{"together", "pinned", "processes", "quiet", "busy"}
	b.Flags.StringVar(&o.how, "how", "together", "`what` is between the two: nothing (together), pinned or processes; quiet or busy is that one alone")
	b.Check(func() bool { return slices.Contains(ways, o.how) }, "-how must be one of %s", strings.Join(ways, ", "))
	b.Procs("procs", 0, "`number` to call runtime.GOMAXPROCS with, 0: leave it")
	d := b.Duration("d", time.Second, "how `long` to measure next to the busy tenant, and again alone")
	b.Flags.Float64Var(&o.rate, "rate", 500, "`requests` of the quiet tenant a second")
	b.Check(func() bool { return o.rate > 0 && o.rate <= 10_000 }, "-rate must be more than 0 and at most 10000")
	return func() error {
		o.d = *d
		if o.how == "quiet" || o.how == "busy" {
			return o.one(b)
		}
		beside, alone, perSum, err := o.measure(b)
		if err != nil {
			return fmt.Errorf("%s: %w", o.how, err)
		}
		b.Result("BenchmarkTenants 1 %.0f ns/op %d beside-p99-ns %d alone-p99-ns", perSum, beside, alone)
		return nil
	}
}

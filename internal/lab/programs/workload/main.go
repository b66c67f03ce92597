// The tunable application of document 001: goroutines that compute, that wait,
// or both, for a given time. With -workload cpu there is one for each P; io has
// 100; mixed has 50 of each kind, and there the waiting ones show what it costs
// to queue behind the computing ones.
package workload

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"sync"
	"time"
)

// A tally is what the goroutines did, in all.
type tally struct {
	mu          sync.Mutex
	sums, wrong int
	sleeps      int
	slept       time.Duration
}

const (
	steps = 1_000_000
	pause = 10 * time.Millisecond
)

func sum() int64 {
	sum := int64(0)
	for i := 0; i < steps; i++ {
		sum += int64(i % 13)
	}
	return sum
}

// want is what sum finds: whole rounds of 0 to 12, and the rest of one.
const want = steps/13*(12*13/2) + (steps%13-1)*(steps%13)/2

func compute(t *tally, start time.Time, duration time.Duration) {
	sums, wrong := 0, 0
	for ; time.Since(start) < duration; sums++ {
		if sum() != want {
			wrong++
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sums, t.wrong = t.sums+sums, t.wrong+wrong
}

func wait(t *tally, start time.Time, duration time.Duration) {
	sleeps, slept := 0, time.Duration(0)
	for ; time.Since(start) < duration; sleeps++ {
		before := time.Now()
		time.Sleep(pause)
		slept += time.Since(before)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sleeps, t.slept = t.sleeps+sleeps, t.slept+slept
}

// Main runs the program.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("workload", flag.ContinueOnError)
	flags.SetOutput(stderr)
	kind := flags.String("workload", "mixed", "`kind` of work: cpu, io or mixed")
	duration := flags.Duration("duration", 10*time.Second, "how long; the document's is 10s")
	procs := flags.Int("gomaxprocs", 0, "`number` to call runtime.GOMAXPROCS with; 0: leave it")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "workload: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *duration <= 0 || *procs < 0 {
		fmt.Fprintln(stderr, "workload: -duration must be more than 0, -gomaxprocs not negative")
		return 2
	}
	if *procs > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(*procs))
	}
	computing, waiting := 0, 0
	switch *kind {
	case "cpu":
		computing = runtime.GOMAXPROCS(0)
	case "io":
		waiting = 100
	case "mixed":
		computing, waiting = 50, 50
	default:
		fmt.Fprintf(stderr, "workload: -workload %q is none of cpu, io and mixed\n", *kind)
		return 2
	}
	log.New(stderr, "", log.LstdFlags).Printf("workload: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	var t tally
	var wg sync.WaitGroup
	start := time.Now()
	run := func(n int, work func(*tally, time.Time, time.Duration)) {
		for i := 0; i < n; i++ {
			wg.Add(1)
			go func() {
				defer wg.Done()
				work(&t, start, *duration)
			}()
		}
	}
	run(computing, compute)
	run(waiting, wait)
	wg.Wait()
	elapsed := time.Since(start)
	if t.wrong > 0 {
		fmt.Fprintf(stderr, "workload: %d of %d sums are wrong\n", t.wrong, t.sums)
		return 1
	}
	fmt.Fprintf(stdout, "BenchmarkWorkload/%s 1 %d ns/op", *kind, elapsed.Nanoseconds())
	if computing > 0 {
		fmt.Fprintf(stdout, " %.1f sums/s", float64(t.sums)/elapsed.Seconds())
	}
	if waiting > 0 {
		fmt.Fprintf(stdout, " %.1f sleeps/s %.0f ns/sleep", float64(t.sleeps)/elapsed.Seconds(),
			float64(t.slept.Nanoseconds())/float64(max(t.sleeps, 1)))
	}
	fmt.Fprintln(stdout)
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

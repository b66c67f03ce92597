// The mixed work of document 001's tunable application: 50 goroutines that compute
// beside 50 that wait 10 ms, over and over. How much is computed tells what the CPUs
// are used for, how often the others wake tells what it costs them to queue behind.
package mixed

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

const (
	steps = 1_000_000
	pause = 10 * time.Millisecond
	// want is what sum finds: whole rounds of 0 to 12, and the rest of one.
	want = steps/13*(12*13/2) + (steps%13-1)*(steps%13)/2
)

func sum() int64 {
	sum := int64(0)
	for i := 0; i < steps; i++ {
		sum += int64(i % 13)
	}
	return sum
}

// A tally is what the goroutines did, in all.
type tally struct {
	mu                  sync.Mutex
	sums, wrong, sleeps int
}

func (t *tally) compute(until time.Time) {
	sums, wrong := 0, 0
	for ; time.Now().Before(until); sums++ {
		if sum() != want {
			wrong++
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sums, t.wrong = t.sums+sums, t.wrong+wrong
}

func (t *tally) wait(until time.Time) {
	sleeps := 0
	for ; time.Now().Before(until); sleeps++ {
		time.Sleep(pause)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sleeps += sleeps
}

// Main runs the program.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("mixed", flag.ContinueOnError)
	flags.SetOutput(stderr)
	d := flags.Duration("d", 2*time.Second, "how `long`; the document's is 10s")
	n := flags.Int("n", 50, "`goroutines` of each kind; the document's are 50")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "mixed: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *n < 1 || *d <= 0 {
		fmt.Fprintln(stderr, "mixed: -n must be at least 1, -d more than 0")
		return 2
	}
	log.New(stderr, "", log.LstdFlags).Printf("mixed: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	var t tally
	var wg sync.WaitGroup
	start := time.Now()
	until := start.Add(*d)
	for _, work := range []func(time.Time){t.compute, t.wait} {
		for i := 0; i < *n; i++ {
			wg.Add(1)
			go func(work func(time.Time)) {
				defer wg.Done()
				work(until)
			}(work)
		}
	}
	wg.Wait()
	elapsed := time.Since(start)
	if t.wrong > 0 {
		fmt.Fprintf(stderr, "mixed: %d of %d sums are wrong\n", t.wrong, t.sums)
		return 1
	}
	for _, line := range []struct {
		name string
		n    int
	}{{"compute", t.sums}, {"wait", t.sleeps}} {
		fmt.Fprintf(stdout, "BenchmarkMixed/%s %d %.0f ns/op %.1f rounds/s\n",
			line.name, line.n, float64(elapsed.Nanoseconds())/float64(line.n), float64(line.n)/elapsed.Seconds())
	}
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

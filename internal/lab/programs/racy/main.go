// A counter that goroutines share without a lock, for document 002's "increased
// parallelism could make bugs in racy programs more likely". Of two increments at one
// time one is lost. The first line increments at once, the second reads, computes and
// writes: there a goroutine that loses its turn in between undoes, once it is back, all
// that the others counted meanwhile, with one P too.
//
// It is built to be wrong. The race detector says so: go build -race.
package racy

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

type counter struct{ n int }

func (c *counter) increment() { c.n++ }

// compute takes about half a microsecond, on what it is given, and returns 1.
func compute(n int) int {
	x := n
	for i := 0; i < 50; i++ {
		x = x*31%7 + i%2
	}
	if x < 0 {
		return 0
	}
	return 1
}

func (c *counter) slowly() {
	n := c.n
	c.n = n + compute(n)
}

// share has so many goroutines increment n times in all.
func share(goroutines, n int, increment func()) time.Duration {
	var wg sync.WaitGroup
	start := time.Now()
	for g := 0; g < goroutines; g++ {
		part := n / goroutines
		if g < n%goroutines {
			part++
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < part; i++ {
				increment()
			}
		}()
	}
	wg.Wait()
	return time.Since(start)
}

// Main runs the program.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("racy", flag.ContinueOnError)
	flags.SetOutput(stderr)
	goroutines := flags.Int("goroutines", 16, "that share the counter (the document names no program)")
	n := flags.Int("n", 20_000_000, "`increments` in all; of those that compute a twentieth")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "racy: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *goroutines < 1 || *n < 20 {
		fmt.Fprintln(stderr, "racy: -goroutines must be at least 1, -n at least 20")
		return 2
	}
	log.New(stderr, "", log.LstdFlags).Printf("racy: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	var quick, slow counter
	for _, line := range []struct {
		name      string
		counter   *counter
		increment func()
		n         int
	}{{"increment", &quick, quick.increment, *n}, {"compute", &slow, slow.slowly, *n / 20}} {
		elapsed := share(*goroutines, line.n, line.increment)
		if line.counter.n < 1 || line.counter.n > line.n {
			fmt.Fprintf(stderr, "racy: %d increments counted to %d\n", line.n, line.counter.n)
			return 1
		}
		lost := 1e6 * (1 - float64(line.counter.n)/float64(line.n))
		fmt.Fprintf(stdout, "BenchmarkRacy/%s %d %.2f ns/op %.1f lost-ppm\n", line.name, line.n, float64(elapsed.Nanoseconds())/float64(line.n), lost)
	}
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

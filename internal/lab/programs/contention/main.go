// The contended counter of document 001: adding one under a mutex, by one
// goroutine alone and by 16 that want it at once. The second costs more only
// where they can run at once: with one P there is hardly anybody to wait for, and
// hardly a switch between them. The third line has them switch at every increment.
package contention

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

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) increment() {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
}

// yielding is how many increments there are to one that yields: those take long.
const yielding = 20

// share counts to n by so many goroutines, each its part, which let another run after
// each increment or not.
func share(c *counter, goroutines, n int, yield bool) time.Duration {
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
				c.increment()
				if yield {
					runtime.Gosched()
				}
			}
		}()
	}
	wg.Wait()
	return time.Since(start)
}

// Main runs the program.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("contention", flag.ContinueOnError)
	flags.SetOutput(stderr)
	goroutines := flags.Int("goroutines", 16, "that share the counter; the document's are 16")
	n := flags.Int("n", 5_000_000, "`increments` of each line (the document leaves it to go test -bench)")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "contention: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *goroutines < 1 || *n < 1 {
		fmt.Fprintln(stderr, "contention: -goroutines and -n must be at least 1")
		return 2
	}
	log.New(stderr, "", log.LstdFlags).Printf("contention: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	for _, line := range []struct {
		name       string
		goroutines int
		n          int
		yield      bool
	}{{"alone", 1, *n, false}, {"contended", *goroutines, *n, false}, {"switching", *goroutines, (*n + yielding - 1) / yielding, true}} {
		var c counter
		elapsed := share(&c, line.goroutines, line.n, line.yield)
		if c.n != line.n {
			fmt.Fprintf(stderr, "contention: %d goroutines counted to %d, want %d\n", line.goroutines, c.n, line.n)
			return 1
		}
		fmt.Fprintf(stdout, "BenchmarkContention/%s %d %.2f ns/op\n", line.name, line.n, float64(elapsed.Nanoseconds())/float64(line.n))
	}
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

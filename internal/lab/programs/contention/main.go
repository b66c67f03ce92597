// The contended counter of document 001: adding one under a mutex, by one
// goroutine alone and by 16 that want it at once. The second line costs more only
// where they can run at once: with one P there is hardly anybody to wait for.
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

// share counts to n by so many goroutines, each its part.
func share(c *counter, goroutines, n int) time.Duration {
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
	}{{"alone", 1}, {"contended", *goroutines}} {
		var c counter
		elapsed := share(&c, line.goroutines, *n)
		if c.n != *n {
			fmt.Fprintf(stderr, "contention: %d goroutines counted to %d, want %d\n", line.goroutines, c.n, *n)
			return 1
		}
		fmt.Fprintf(stdout, "BenchmarkContention/%s %d %.2f ns/op\n", line.name, *n, float64(elapsed.Nanoseconds())/float64(*n))
	}
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

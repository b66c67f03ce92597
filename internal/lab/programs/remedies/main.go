// The counter of document 001 that 16 goroutines contend for, and what the document
// names against that: a lock-free counter, less sharing, batches. Each line counts as
// much, and is checked.
package remedies

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A counter is what so many goroutines count with, each as often as told, and then
// what they counted in all.
type counter interface {
	add(goroutine, times int)
	total() int
}

// A locked counter is the document's.
type locked struct {
	mu sync.Mutex
	n  int
}

func (c *locked) add(_, times int) {
	for i := 0; i < times; i++ {
		c.mu.Lock()
		c.n++
		c.mu.Unlock()
	}
}

func (c *locked) total() int { return c.n }

// A lockless one is one instruction of the processor.
type lockless struct{ n atomic.Int64 }

func (c *lockless) add(_, times int) {
	for i := 0; i < times; i++ {
		c.n.Add(1)
	}
}

func (c *lockless) total() int { return int(c.n.Load()) }

// A shard has a cache line of its own.
type shard struct {
	mu sync.Mutex
	n  int
	_  [128]byte
}

// A sharded counter is a locked one for each goroutine: nothing is contended for.
type sharded []shard

func (c sharded) add(goroutine, times int) {
	s := &c[goroutine]
	for i := 0; i < times; i++ {
		s.mu.Lock()
		s.n++
		s.mu.Unlock()
	}
}

func (c sharded) total() (n int) {
	for i := range c {
		n += c[i].n
	}
	return n
}

// batch is how much one goroutine counts before it tells.
const batch = 100

// A batched counter is a locked one that is told now and then.
type batched struct{ locked }

func (c *batched) add(_, times int) {
	untold := 0
	tell := func() {
		c.mu.Lock()
		c.n += untold
		c.mu.Unlock()
		untold = 0
	}
	for i := 0; i < times; i++ {
		if untold++; untold == batch {
			tell()
		}
	}
	tell()
}

// share has so many goroutines count to n together.
func share(c counter, goroutines, n int) time.Duration {
	var wg sync.WaitGroup
	start := time.Now()
	for g := 0; g < goroutines; g++ {
		part := n / goroutines
		if g < n%goroutines {
			part++
		}
		wg.Add(1)
		go func(g int) {
			defer wg.Done()
			c.add(g, part)
		}(g)
	}
	wg.Wait()
	return time.Since(start)
}

// Main runs the program.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("remedies", flag.ContinueOnError)
	flags.SetOutput(stderr)
	goroutines := flags.Int("goroutines", 16, "that count; the document's are 16")
	n := flags.Int("n", 5_000_000, "`increments` of each line (the document leaves it to go test -bench)")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "remedies: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *goroutines < 1 || *n < 1 {
		fmt.Fprintln(stderr, "remedies: -goroutines and -n must be at least 1")
		return 2
	}
	log.New(stderr, "", log.LstdFlags).Printf("remedies: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	for _, line := range []struct {
		name string
		counter
	}{{"mutex", &locked{}}, {"atomic", &lockless{}}, {"sharded", make(sharded, *goroutines)}, {"batched", &batched{}}} {
		elapsed := share(line.counter, *goroutines, *n)
		if got := line.total(); got != *n {
			fmt.Fprintf(stderr, "remedies: by %s %d goroutines counted to %d, want %d\n", line.name, *goroutines, got, *n)
			return 1
		}
		fmt.Fprintf(stdout, "BenchmarkRemedies/%s %d %.3f ns/op\n", line.name, *n, float64(elapsed.Nanoseconds())/float64(*n))
	}
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

// The CPU-bound benchmark of document 001: tasks that sum i % 97 over 100 million
// numbers, shared out among as many goroutines as there are Ps. The document's
// own code gives each b.N/procs tasks, which is none where b.N is smaller; here
// each takes the next until there is none left.
package cpubound

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

func sum(steps int) int64 {
	result := int64(0)
	for i := 0; i < steps; i++ {
		result += int64(i % 97)
	}
	return result
}

// expected is the same without the work: whole rounds of 0 to 96, and the rest.
func expected(steps int) int64 {
	rounds, rest := int64(steps/97), int64(steps%97)
	return rounds*(96*97/2) + rest*(rest-1)/2
}

// Main runs the program.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("cpubound", flag.ContinueOnError)
	flags.SetOutput(stderr)
	tasks := flags.Int("n", 16, "`tasks` in all (the document leaves it to go test -bench)")
	steps := flags.Int("steps", 100_000_000, "`steps` of a task; the document's are 100 million")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "cpubound: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *tasks < 1 || *steps < 1 {
		fmt.Fprintln(stderr, "cpubound: -n and -steps must be at least 1")
		return 2
	}
	log.New(stderr, "", log.LstdFlags).Printf("cpubound: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	var taken, wrong atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for i := 0; i < runtime.GOMAXPROCS(0); i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for taken.Add(1) <= int64(*tasks) {
				if sum(*steps) != expected(*steps) {
					wrong.Add(1)
				}
			}
		}()
	}
	wg.Wait()
	elapsed := time.Since(start)
	if n := wrong.Load(); n > 0 {
		fmt.Fprintf(stderr, "cpubound: %d of %d sums are wrong\n", n, *tasks)
		return 1
	}
	fmt.Fprintf(stdout, "BenchmarkCPUBound 1 %d ns/op\n", elapsed.Nanoseconds())
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

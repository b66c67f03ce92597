// The canonical demonstration of document 000: 16 goroutines do 50 million
// integer steps each and share nothing, so the time falls with GOMAXPROCS for as
// long as there are CPUs.
package parallel

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

func work(steps int) int {
	x := 0
	for i := 0; i < steps; i++ {
		x ^= i*1103515245 + 12345
	}
	return x
}

// Main runs the program.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("parallel", flag.ContinueOnError)
	flags.SetOutput(stderr)
	goroutines := flags.Int("goroutines", 16, "how many; the document's are 16")
	steps := flags.Int("steps", 50_000_000, "`steps` of each; the document's are 50 million")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "parallel: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *goroutines < 1 || *steps < 1 {
		fmt.Fprintln(stderr, "parallel: -goroutines and -steps must be at least 1")
		return 2
	}
	log.New(stderr, "", log.LstdFlags).Printf("parallel: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	results := make([]int, *goroutines)
	start := time.Now()
	var wg sync.WaitGroup
	for i := range results {
		i := i
		wg.Add(1)
		go func() {
			defer wg.Done()
			results[i] = work(*steps)
		}()
	}
	wg.Wait()
	elapsed := time.Since(start)
	for i, x := range results {
		if x != results[0] {
			fmt.Fprintf(stderr, "parallel: goroutine %d found %d, goroutine 0 found %d\n", i, x, results[0])
			return 1
		}
	}
	fmt.Fprintf(stdout, "BenchmarkParallel 1 %d ns/op\n", elapsed.Nanoseconds())
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

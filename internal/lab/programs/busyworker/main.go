// Two groups of goroutines, after document 003: busy ones sum random integers
// without a pause, the others do hardly anything, often. What is measured is how
// long the busy ones take. Under a quota of a fraction of a CPU more Ps spend it
// at once, and then the kernel holds the whole process until the next period.
package busyworker

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand"
	"os"
	"runtime"
	"sync"
	"time"
)

// busy sums n random integers, the same ones in each.
func busy(n int) int64 {
	random, sum := rand.New(rand.NewSource(1)), int64(0)
	for i := 0; i < n; i++ {
		sum += int64(random.Intn(1000))
	}
	return sum
}

// other does hardly anything until it is told to stop.
func other(stop <-chan struct{}) {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-stop:
			return
		}
	}
}

// Main runs the program.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("busyworker", flag.ContinueOnError)
	flags.SetOutput(stderr)
	busyWorkers := flags.Int("busy", 4, "busy `workers` (the document's numbers are in a picture that is lost)")
	otherWorkers := flags.Int("other", 10, "other `workers` (likewise), which wake every millisecond")
	n := flags.Int("n", 50_000_000, "`integers` that each busy worker sums (ours: with 4, about 1 s of CPU, so 5 s under 0.2)")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "busyworker: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *busyWorkers < 1 || *otherWorkers < 0 || *n < 1 {
		fmt.Fprintln(stderr, "busyworker: -busy and -n must be at least 1, -other not negative")
		return 2
	}
	log.New(stderr, "", log.LstdFlags).Printf("busyworker: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	stop := make(chan struct{})
	var others, wg sync.WaitGroup
	for i := 0; i < *otherWorkers; i++ {
		others.Add(1)
		go func() {
			defer others.Done()
			other(stop)
		}()
	}
	sums := make([]int64, *busyWorkers)
	start := time.Now()
	for i := range sums {
		i := i
		wg.Add(1)
		go func() {
			defer wg.Done()
			sums[i] = busy(*n)
		}()
	}
	wg.Wait()
	elapsed := time.Since(start)
	close(stop)
	others.Wait()
	for i, sum := range sums {
		if sum != sums[0] {
			fmt.Fprintf(stderr, "busyworker: worker %d found %d, worker 0 found %d\n", i, sum, sums[0])
			return 1
		}
	}
	fmt.Fprintf(stdout, "BenchmarkBusyworker/busy=%d/other=%d 1 %d ns/op\n", *busyWorkers, *otherWorkers, elapsed.Nanoseconds())
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

// Work stealing, after document 001: one goroutine makes 16 others, so that all
// of them stand in the run queue of the P that it runs on, and the other Ps come
// and take some. The document's program prints GOMAXPROCS and calls it the P;
// which P each goroutine really ran on only an execution trace tells. With -trace
// this program writes one: each worker is a region "worker", and logs its number
// under the category "worker", which joins it to the trace's goroutine.
package stealing

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/trace"
	"strconv"
	"sync"
	"time"
)

// work is about a millisecond of computing for each unit.
func work(units int) uint64 {
	x := uint64(88172645463325252)
	for i := 0; i < units*500_000; i++ { // xorshift: each step needs the one before
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// Main runs the program.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("stealing", flag.ContinueOnError)
	flags.SetOutput(stderr)
	procs := flags.Int("procs", 4, "`number` to call runtime.GOMAXPROCS with, the document's is 4; 0: leave it")
	goroutines := flags.Int("goroutines", 16, "made on one P; the document's are 16")
	units := flags.Int("work", 10, "`milliseconds` of computing in each, about (the document's sleep 10 ms, which leaves nothing to steal)")
	file := flags.String("trace", "", "`file` to write an execution trace to")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "stealing: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *goroutines < 1 || *units < 0 || *procs < 0 {
		fmt.Fprintln(stderr, "stealing: -goroutines must be at least 1, -procs and -work not negative")
		return 2
	}
	if *procs > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(*procs)) //procfit:ignore PF024 the setting that the experiment is about
	}
	log.New(stderr, "", log.LstdFlags).Printf("stealing: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())
	stop := func() error { return nil }
	if *file != "" {
		f, err := os.Create(*file)
		if err == nil {
			err = trace.Start(f)
		}
		if err != nil {
			fmt.Fprintf(stderr, "stealing: trace: %v\n", err)
			return 1
		}
		stop = func() error { trace.Stop(); return f.Close() }
	}

	results := make([]uint64, *goroutines)
	start := time.Now()
	var wg sync.WaitGroup
	wg.Add(*goroutines)
	for i := range results {
		i := i
		go func() {
			defer wg.Done()
			ctx := context.Background()
			trace.Log(ctx, "worker", strconv.Itoa(i))
			trace.WithRegion(ctx, "worker", func() { results[i] = work(*units) })
		}()
	}
	wg.Wait()
	elapsed := time.Since(start)
	if err := stop(); err != nil {
		fmt.Fprintf(stderr, "stealing: trace: %v\n", err)
		return 1
	}
	for i, x := range results {
		if x != results[0] {
			fmt.Fprintf(stderr, "stealing: worker %d found %d, worker 0 found %d\n", i, x, results[0])
			return 1
		}
	}
	fmt.Fprintf(stdout, "BenchmarkStealing 1 %d ns/op\n", elapsed.Nanoseconds())
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

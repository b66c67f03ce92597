// Work stealing, after document 001: one goroutine makes 16 others, so that all
// of them are in the run queue of the P that it runs on, and the other Ps come
// and take some. The document's program prints GOMAXPROCS and calls it the P;
// which P each goroutine really ran on only an execution trace tells. With -trace
// this program writes one: each worker is a region "worker", and logs its number
// under the category "worker", which joins it to the trace's goroutine.
package stealing

import (
	"context"
	"fmt"
	"os"
	"runtime/trace"
	"strconv"

	"github.com/procfit/procfit/internal/lab/programs/harness"
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

// Program is the program.
func Program(b *harness.Batch) func() error {
	b.Procs("procs", 4, "`number` to call runtime.GOMAXPROCS with, the article's is 4; 0: leave it")
	goroutines := b.Int("goroutines", 16, 1, "made on one P; the article's are 16")
	units := b.Int("work", 10, 0, "`milliseconds` of computing in each, about (the article's sleep 10 ms, which leaves nothing to steal)")
	file := b.Flags.String("trace", "", "`file` to write an execution trace to")
	return func() error {
		stop := func() error { return nil }
		if *file != "" {
			f, err := os.Create(*file)
			if err == nil {
				err = trace.Start(f)
			}
			if err != nil {
				return fmt.Errorf("trace: %w", err)
			}
			stop = func() error { trace.Stop(); return f.Close() }
		}
		results := make([]uint64, *goroutines)
		elapsed := harness.Together(*goroutines, func(i int) {
			ctx := context.Background()
			trace.Log(ctx, "worker", strconv.Itoa(i))
			trace.WithRegion(ctx, "worker", func() { results[i] = work(*units) })
		})
		if err := stop(); err != nil {
			return fmt.Errorf("trace: %w", err)
		}
		for i, x := range results {
			if x != results[0] {
				return fmt.Errorf("worker %d found %d, worker 0 found %d", i, x, results[0])
			}
		}
		b.Result("BenchmarkStealing 1 %d ns/op", elapsed.Nanoseconds())
		return nil
	}
}

func main() {
	os.Exit(harness.Run("stealing", os.Args[1:], os.Stdout, os.Stderr, Program))
}

// Work stealing, after document 001: one goroutine makes 16 others, so that all
// of them are in the run queue of the P that it runs on, and the other Ps come
// and take some. The document's program prints GOMAXPROCS and calls it the P;
// which P each goroutine really ran on only an execution trace tells. With -trace
// this program writes one: each worker is a region "worker", and logs its number
// under the category "worker", which joins it to the trace's goroutine.
//
// With -for they compute for that long instead, and what each has done by then is what it got
// of the CPUs: Jain's index of these is 1 if all got the same, and 1/16 if one of 16 got all.
package stealing

import (
	"context"
	"fmt"
	"os"
	"runtime/trace"
	"strconv"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

func Program(b *harness.Batch) func() error {
	b.Procs("procs", 4, "`number` to call runtime.GOMAXPROCS with, the article's is 4; 0: leave it")
	goroutines := b.Int("goroutines", 16, 1, "made on one P; the article's are 16")
	waves := b.Int("waves", 1, 1, "how often all are made, one `time` after the other")
	each := b.Wait("work", 10*time.Millisecond, "how `long` each computes, about (the article's sleep 10 ms, which leaves nothing to steal)")
	long := b.Wait("for", 0, "compute again and again, all for so `long`; 0: once")
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
		results, steps := make([]uint64, *goroutines), make([]int, *goroutines)
		start := time.Now()
		for n := 0; n < *waves; n++ {
			harness.Together(*goroutines, func(i int) {
				ctx := context.Background()
				trace.Log(ctx, "worker", strconv.Itoa(i))
				trace.WithRegion(ctx, "worker", func() {
					for ; steps[i] <= n || time.Since(start) < *long; steps[i]++ {
						results[i] = harness.Shift(each.Nanoseconds() / 2) // which takes about that long
					}
				})
			})
		}
		elapsed := time.Since(start)
		if err := stop(); err != nil {
			return fmt.Errorf("trace: %w", err)
		}
		for i, x := range results {
			if x != results[0] {
				return fmt.Errorf("worker %d found %d, worker 0 found %d", i, x, results[0])
			}
		}
		b.Result("BenchmarkStealing %d %.0f ns/op %.5f jain-index", *waves, float64(elapsed.Nanoseconds())/float64(*waves), jain(steps))
		return nil
	}
}

// jain is Jain's index of fairness (R. Jain, D. Chiu, W. Hawe, A quantitative measure of
// fairness and discrimination for resource allocation, DEC-TR-301, 1984).
func jain(got []int) float64 {
	sum, squares := 0.0, 0.0
	for _, n := range got {
		sum, squares = sum+float64(n), squares+float64(n)*float64(n)
	}
	return sum * sum / squares / float64(len(got))
}

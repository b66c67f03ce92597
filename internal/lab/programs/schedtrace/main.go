// Something worth reading in the scheduler's own lines, which document 001
// explains (GODEBUG=schedtrace=100 before the command prints one every 100 ms on
// stderr). Three phases, each announced on stderr: idle, where all Ps are;
// spread, where each P has a goroutine that computes, and one more; crowd, where
// all are busy so and one goroutine then makes 400 more. Those are in the queue
// of its P, which holds 256: the rest is in the global one (runqueue=), and
// others come to steal.
package schedtrace

import (
	"fmt"
	"log"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

// compute takes about a millisecond.
func compute() uint64 { return harness.Shift(500_000) }

// spread computes in that many goroutines until the time is over.
func spread(wg *sync.WaitGroup, goroutines int, d time.Duration) {
	start := time.Now()
	for i := 0; i < goroutines; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for time.Since(start) < d {
				compute()
			}
		}()
	}
}

func Program(b *harness.Batch) func() error {
	d := b.Wait("d", time.Second, "`length` of the first two phases (the article has no program)")
	n := b.Int("n", 400, 1, "`goroutines` of the crowd, about 2 ms of computing each")
	b.Log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	return func() error {
		procs := runtime.GOMAXPROCS(0)
		var crowded atomic.Int64
		for _, phase := range []struct {
			name string
			run  func(*sync.WaitGroup)
		}{
			{"idle", func(*sync.WaitGroup) { time.Sleep(*d) }},
			{"spread", func(wg *sync.WaitGroup) { spread(wg, procs+1, *d) }},
			{"crowd", func(wg *sync.WaitGroup) {
				spread(wg, procs, *d/10)
				wg.Add(*n)
				go func() {
					for i := 0; i < *n; i++ {
						go func() {
							defer wg.Done()
							if compute() == compute() {
								crowded.Add(1)
							}
						}()
					}
				}()
			}},
		} {
			b.Log.Printf("schedtrace: phase %s", phase.name)
			var wg sync.WaitGroup
			start := time.Now()
			phase.run(&wg)
			wg.Wait()
			b.Result("BenchmarkSchedtrace/%s 1 %d ns/op", phase.name, time.Since(start).Nanoseconds())
		}
		if got := crowded.Load(); got != int64(*n) {
			return fmt.Errorf("%d of the crowd found what it should, want %d", got, *n)
		}
		return nil
	}
}

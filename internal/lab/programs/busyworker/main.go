// Two groups of goroutines, after document 003: busy ones sum random integers
// without a pause, the others do hardly anything, often. What is measured is how
// long the busy ones take. Under a quota of a fraction of a CPU more Ps spend it
// at once, and then the kernel holds the whole process until the next period.
package busyworker

import (
	"fmt"
	"math/rand"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
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

func Program(b *harness.Batch) func() error {
	busyWorkers := b.Int("busy", 4, 1, "busy `workers` (the article's numbers are in a picture that is lost)")
	otherWorkers := b.Int("other", 10, 0, "other `workers`, which wake every millisecond")
	n := b.Int("n", 50_000_000, 1, "`integers` that each busy worker sums (ours: with 4, about 1 s of CPU, so 5 s under 0.2)")
	return func() error {
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			harness.Together(*otherWorkers, func(int) { other(stop) })
		}()
		sums := make([]int64, *busyWorkers)
		elapsed := harness.Together(*busyWorkers, func(i int) { sums[i] = busy(*n) })
		close(stop)
		<-stopped
		for i, sum := range sums {
			if sum != sums[0] {
				return fmt.Errorf("worker %d found %d, worker 0 found %d", i, sum, sums[0])
			}
		}
		b.Result("BenchmarkBusyworker/busy=%d/other=%d 1 %d ns/op", *busyWorkers, *otherWorkers, elapsed.Nanoseconds())
		return nil
	}
}

// The contended counter of document 001: adding one under a mutex, by one
// goroutine alone and by 16 that want it at once. The second costs more only
// where they can run at once: with one P there is hardly anybody to wait for, and
// hardly a switch between them. The third line has them switch at every increment.
package contention

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/procfit/procfit/internal/lab/programs/harness"
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

// yielding is how many increments there are to one that yields: those take long.
const yielding = 20

func Program(b *harness.Batch) func() error {
	goroutines := b.Int("goroutines", 16, 1, "that share the counter; the article's are 16")
	n := b.Int("n", 5_000_000, 1, "`increments` of each line (the article leaves it to go test -bench)")
	return func() error {
		for _, line := range []struct {
			name       string
			goroutines int
			n          int
			yield      bool
		}{{"alone", 1, *n, false}, {"contended", *goroutines, *n, false}, {"switching", *goroutines, (*n + yielding - 1) / yielding, true}} {
			var c counter
			yield := line.yield
			elapsed := harness.Share(line.goroutines, line.n, func(_, part int) {
				for i := 0; i < part; i++ {
					c.increment()
					if yield {
						runtime.Gosched()
					}
				}
			})
			if c.n != line.n {
				return fmt.Errorf("%d goroutines counted to %d, want %d", line.goroutines, c.n, line.n)
			}
			b.Result("BenchmarkContention/%s %d %.2f ns/op", line.name, line.n, float64(elapsed.Nanoseconds())/float64(line.n))
		}
		return nil
	}
}

// The counter of document 001 that 16 goroutines contend for, and what the document
// names against that: a lock-free counter, less sharing, batches. Each line counts as
// much, and is checked.
package remedies

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

// A counter is what that many goroutines count with, each as often as told, and then
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

// A batched counter is a locked one that is updated now and then.
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

func Program(b *harness.Batch) func() error {
	goroutines := b.Int("goroutines", 16, 1, "that count; the article's are 16")
	n := b.Int("n", 5_000_000, 1, "`increments` of each line (the article leaves it to go test -bench)")
	return func() error {
		for _, line := range []struct {
			name string
			counter
		}{{"mutex", &locked{}}, {"atomic", &lockless{}}, {"sharded", make(sharded, *goroutines)}, {"batched", &batched{}}} {
			elapsed := harness.Share(*goroutines, *n, line.add)
			if got := line.total(); got != *n {
				return fmt.Errorf("by %s %d goroutines counted to %d, want %d", line.name, *goroutines, got, *n)
			}
			b.Result("BenchmarkRemedies/%s %d %.3f ns/op", line.name, *n, float64(elapsed.Nanoseconds())/float64(*n))
		}
		return nil
	}
}

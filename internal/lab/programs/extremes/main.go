// Requests that only compute, as document 000's server does, for a number of Ps far
// beyond the CPUs: what they serve, how long the slowest take, and what memory the Ps
// cost. The clients, each with one request at a time, are goroutines of the same
// process, so that there is no load generator to share the CPUs with.
package extremes

import (
	"errors"
	"runtime"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

func Program(b *harness.Batch) func() error {
	clients := b.Int("clients", 64, 1, "`clients`, each with one request at a time (the article's wrk has 64)")
	d := b.Duration("d", 2*time.Second, "how `long`; the article's runs take 10s")
	blocks := b.Int("blocks", 64, 1, "of 4096 bytes that a request hashes; the article's are 64")
	return func() error {
		want := harness.Hash(*blocks)
		took, elapsed, err := harness.Clients(*clients, *d, func() error {
			if harness.Hash(*blocks) != want {
				return errors.New("a wrong answer")
			}
			return nil
		})
		if err != nil {
			return err
		}
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		b.Result("BenchmarkExtremes %d %.0f ns/op %d p50-ns %d p99-ns %d memory-B %d mcache-B", len(took), float64(elapsed.Nanoseconds())/float64(len(took)),
			harness.Percentile(took, 0.50), harness.Percentile(took, 0.99), memory.Sys-memory.HeapReleased, memory.MCacheInuse)
		return nil
	}
}

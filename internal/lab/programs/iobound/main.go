// The I/O-bound benchmark of document 001: clients that each send three requests,
// one after the other, to a server that takes a second over each. A goroutine
// that waits holds no P, so the time is that of the waiting with any GOMAXPROCS.
// The document asks httpbin.org; here the server is in the same process.
package iobound

import (
	"fmt"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

func Program(b *harness.Batch) func() error {
	wait := b.Wait("d", time.Second, "how long the server takes; the article's is 1s")
	requests := b.Int("requests", 3, 1, "of each client, in turn; the article's are 3")
	clients := b.Int("n", 100, 1, "`clients` at once (the article leaves it to go test -bench)")
	return func() error {
		fetch, stop, err := harness.Loopback(*clients, "after a while", func() { time.Sleep(*wait) })
		if err != nil {
			return err
		}
		defer stop()
		elapsed, err := harness.Try(*clients, func() error {
			for i := 0; i < *requests; i++ {
				if err := fetch(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if least := time.Duration(*requests) * *wait; elapsed < least {
			return fmt.Errorf("took %v, less than the %v of waiting", elapsed, least)
		}
		b.Result("BenchmarkIOBound 1 %d ns/op", elapsed.Nanoseconds())
		return nil
	}
}

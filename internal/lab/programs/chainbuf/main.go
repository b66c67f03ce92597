// The chain of document 002 over buffered channels: 100 goroutines pass a number
// from one end to the other, one number at a time. A send into an empty buffer
// does not wait for the receiver, so the sender runs on next to the goroutine
// that it woke, if only to find that there is nothing more to do.
package chainbuf

import "github.com/procfit/procfit/internal/lab/programs/harness"

// Program is the program. It keeps to Go 1.2.
func Program(b *harness.Batch) func() error {
	goroutines := b.Int("goroutines", 100, 1, "length of the chain; the article's is 100")
	buffer := b.Int("buffer", 1, 1, "`messages` that a channel holds; the article does not say")
	n := b.Int("n", 50000, 1, "`messages`, one after the other (0.8 s at 16 µs; the article does not say)")
	return func() error {
		elapsed, err := harness.Chain(*goroutines, *buffer, *n)
		if err == nil {
			b.Result("BenchmarkChainBuf %d %.1f ns/op", *n, float64(elapsed.Nanoseconds())/float64(*n))
		}
		return err
	}
}

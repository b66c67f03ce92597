// The chain of document 002: 100 goroutines, each joined to the next by an
// unbuffered channel, pass a number from one end to the other. There is never
// more than one that could run, so a second P can only do harm: in Go 1.0 it
// cost ten times the time, up to Go 1.4 twice, since Go 1.5 nearly nothing.
package chain

import "github.com/procfit/procfit/internal/lab/programs/harness"

// Program is the program. It keeps to Go 1.2.
func Program(b *harness.Batch) func() error {
	goroutines := b.Int("goroutines", 100, 1, "length of the chain; the article's is 100")
	n := b.Int("n", 50000, 1, "`messages`, one after the other (0.7 s at 14 µs; the article does not say)")
	return func() error {
		elapsed, err := harness.Chain(*goroutines, 0, *n)
		if err == nil {
			b.Result("BenchmarkChain %d %.1f ns/op", *n, float64(elapsed.Nanoseconds())/float64(*n))
		}
		return err
	}
}

// The mixed work of document 001's tunable application: 50 goroutines that compute
// beside 50 that wait 10 ms, over and over. How much is computed reports what the CPUs
// are used for, how often the others wake reports what it costs them to queue behind.
package mixed

import (
	"os"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

// Program is the program.
func Program(b *harness.Batch) func() error {
	d := b.Duration("d", 2*time.Second, "how `long`; the article's is 10s")
	n := b.Int("n", 50, 1, "`goroutines` of each kind; the article's are 50")
	return func() error {
		var t harness.Tally
		elapsed, err := t.Run(*n, *n, *d)
		if err != nil {
			return err
		}
		for _, line := range []struct {
			name string
			n    int
		}{{"compute", t.Sums}, {"wait", t.Sleeps}} {
			b.Result("BenchmarkMixed/%s %d %.0f ns/op %.1f rounds/s",
				line.name, line.n, float64(elapsed.Nanoseconds())/float64(line.n), float64(line.n)/elapsed.Seconds())
		}
		return nil
	}
}

func main() {
	os.Exit(harness.Run("mixed", os.Args[1:], os.Stdout, os.Stderr, Program))
}

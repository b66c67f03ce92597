// A counter that goroutines share without a lock, for document 002's "increased
// parallelism could make bugs in racy programs more likely". Of two increments at one
// time one is lost. The first line increments at once, the second reads, computes and
// writes: there a goroutine that loses its turn in between undoes, once it is back, all
// that the others counted meanwhile, with one P too.
//
// It is built to be wrong. The race detector says so: go build -race.
package racy

import (
	"fmt"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

type counter struct{ n int }

func (c *counter) increment() { c.n++ }

// compute takes about half a microsecond, on what it is given, and returns 1.
func compute(n int) int {
	x := n
	for i := 0; i < 50; i++ {
		x = x*31%7 + i%2
	}
	if x < 0 {
		return 0
	}
	return 1
}

func (c *counter) slowly() {
	n := c.n
	c.n = n + compute(n)
}

func Program(b *harness.Batch) func() error {
	goroutines := b.Int("goroutines", 16, 1, "that share the counter (the article names no program)")
	n := b.Int("n", 20000000, 20, "`increments` in all; of those that compute a twentieth")
	return func() error {
		var quick, slow counter
		for _, line := range []struct {
			name      string
			counter   *counter
			increment func()
			n         int
		}{{"increment", &quick, quick.increment, *n}, {"compute", &slow, slow.slowly, *n / 20}} {
			increment := line.increment
			elapsed := harness.Share(*goroutines, line.n, func(_, part int) {
				for i := 0; i < part; i++ {
					increment()
				}
			})
			if line.counter.n < 1 || line.counter.n > line.n {
				return fmt.Errorf("%d increments counted to %d", line.n, line.counter.n)
			}
			lost := 1e6 * (1 - float64(line.counter.n)/float64(line.n))
			b.Result("BenchmarkRacy/%s %d %.2f ns/op %.1f lost-ppm", line.name, line.n, float64(elapsed.Nanoseconds())/float64(line.n), lost)
		}
		return nil
	}
}

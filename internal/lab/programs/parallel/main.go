// The canonical demonstration of document 000: 16 goroutines do 50 million
// integer steps each and share nothing, so the time falls with GOMAXPROCS for as
// long as there are CPUs.
package parallel

import (
	"fmt"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

func work(steps int) int {
	x := 0
	for i := 0; i < steps; i++ {
		x ^= i*1103515245 + 12345
	}
	return x
}

func Program(b *harness.Batch) func() error {
	goroutines := b.Int("goroutines", 16, 1, "how many; the article's are 16")
	steps := b.Int("steps", 50_000_000, 1, "`steps` of each; the article's are 50 million")
	return func() error {
		results := make([]int, *goroutines)
		elapsed := harness.Together(*goroutines, func(i int) { results[i] = work(*steps) })
		for i, x := range results {
			if x != results[0] {
				return fmt.Errorf("goroutine %d found %d, goroutine 0 found %d", i, x, results[0])
			}
		}
		b.Result("BenchmarkParallel 1 %d ns/op", elapsed.Nanoseconds())
		return nil
	}
}

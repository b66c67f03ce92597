// The CPU-bound benchmark of document 001: tasks that sum i % 97 over 100 million
// numbers, shared out among as many goroutines as there are Ps. The document's
// own code gives each b.N/procs tasks, which is none where b.N is smaller; here
// each takes the next until there is none left.
package cpubound

import (
	"errors"
	"runtime"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

func sum(steps int) int64 {
	result := int64(0)
	for i := 0; i < steps; i++ {
		result += int64(i % 97)
	}
	return result
}

// expected is the same without the work: whole rounds of 0 to 96, and the rest.
func expected(steps int) int64 {
	rounds, rest := int64(steps/97), int64(steps%97)
	return rounds*(96*97/2) + rest*(rest-1)/2
}

func Program(b *harness.Batch) func() error {
	tasks := b.Int("n", 16, 1, "`tasks` in all (the article leaves it to go test -bench)")
	steps := b.Int("steps", 100_000_000, 1, "`steps` of a task; the article's are 100 million")
	return func() error {
		elapsed, err := harness.Take(runtime.GOMAXPROCS(0), *tasks, func(int) error {
			if sum(*steps) != expected(*steps) {
				return errors.New("a sum is wrong")
			}
			return nil
		})
		if err == nil {
			b.Result("BenchmarkCPUBound 1 %d ns/op", elapsed.Nanoseconds())
		}
		return err
	}
}

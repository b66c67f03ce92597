// The tunable application of document 001: goroutines that compute, that wait,
// or both, for a given time. With -workload cpu there is one for each P; io has
// 100; mixed has 50 of each kind, and there the waiting ones show what it costs
// to queue behind the computing ones.
package workload

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

func Program(b *harness.Batch) func() error {
	kind := b.Flags.String("workload", "mixed", "`kind` of work: cpu, io or mixed")
	b.Check(func() bool { return slices.Contains([]string{"cpu", "io", "mixed"}, *kind) }, "-workload must be cpu, io or mixed")
	duration := b.Duration("duration", 10*time.Second, "how long; the article's is 10s")
	b.Procs("gomaxprocs", 0, "`number` to call runtime.GOMAXPROCS with; 0: leave it")
	return func() error {
		computing, waiting := 50, 50
		switch *kind {
		case "cpu":
			computing, waiting = runtime.GOMAXPROCS(0), 0
		case "io":
			computing, waiting = 0, 100
		}
		var t harness.Tally
		elapsed, err := t.Run(computing, waiting, *duration)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("BenchmarkWorkload/%s 1 %d ns/op", *kind, elapsed.Nanoseconds())
		if computing > 0 {
			line += fmt.Sprintf(" %.1f sums/s", float64(t.Sums)/elapsed.Seconds())
		}
		if waiting > 0 {
			line += fmt.Sprintf(" %.1f sleeps/s %.0f ns/sleep", float64(t.Sleeps)/elapsed.Seconds(), float64(t.Slept.Nanoseconds())/float64(max(t.Sleeps, 1)))
		}
		b.Result("%s", line)
		return nil
	}
}

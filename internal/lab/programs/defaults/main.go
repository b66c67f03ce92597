// What a Go version chooses by itself: this program sets nothing and prints
// which GOMAXPROCS it runs with, how many CPUs the runtime counts, and which Go
// built it. The documents disagree about it; started under a quota, an affinity
// or an environment of any kind, this says what is so.
package defaults

import (
	"runtime"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

// Program is the program. It keeps to Go 1.2.
func Program(b *harness.Batch) func() error {
	return func() error {
		b.Result("toolchain: %s", runtime.Version())
		b.Result("BenchmarkDefaults 1 %d gomaxprocs %d numcpu", runtime.GOMAXPROCS(0), runtime.NumCPU())
		return nil
	}
}

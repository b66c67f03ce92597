package benchmarks

import (
	"fmt"
	goruntime "runtime"
	"testing"
)

func BenchmarkLoop(b *testing.B) {
	for _, procs := range []int{1, 2} {
		goruntime.GOMAXPROCS(procs) // want PF038 warning: goruntime.GOMAXPROCS(procs) has no effect on what b.Run times → -cpu 1,2,4
		b.Run(fmt.Sprint(procs), func(b *testing.B) {})
	}
}

func BenchmarkRestored(b *testing.B) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(4)) // want PF038 warning
	b.Run("", func(b *testing.B) {})
}

func BenchmarkInside(b *testing.B) {
	for _, procs := range []int{1, 2} {
		b.Run(fmt.Sprint(procs), func(b *testing.B) {
			old := goruntime.GOMAXPROCS(procs)
			defer goruntime.GOMAXPROCS(old)
		})
	}
}

func BenchmarkPrepared(b *testing.B) {
	old := goruntime.GOMAXPROCS(1)
	defer goruntime.GOMAXPROCS(old)
	prepare()
	goruntime.GOMAXPROCS(old)
	b.Run("", func(b *testing.B) {})
}

func BenchmarkAsked(b *testing.B) {
	n := goruntime.GOMAXPROCS(0)
	b.Run(fmt.Sprint(n, goruntime.GOMAXPROCS(-1)), func(b *testing.B) {})
}

func BenchmarkAnswered(b *testing.B) {
	goruntime.GOMAXPROCS(2) //procfit:ignore PF038 only -benchtime 1x is run -- ignored PF038
	b.Run("", func(b *testing.B) {})
}

// A test has no -cpu of its own, and testing.Benchmark sets nothing back.
func TestSet(t *testing.T) {
	goruntime.GOMAXPROCS(2)
	t.Run("", func(t *testing.T) {})
	testing.Benchmark(func(b *testing.B) {
		goruntime.GOMAXPROCS(2)
		b.Run("", func(b *testing.B) {})
	})
}

func prepare() {}

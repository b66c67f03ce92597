// A program that allocates, in the place of document 002's garbage: workers, one
// for each P, parse Go source over and over and keep the last trees alive, so
// that the collector has much to mark. The collector's own work is parallel too.
// (The document's parses net/http; ours parses text that it writes itself.)
package garbage

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"runtime"
	"sync/atomic"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

// source is a Go file of that many functions.
func source(functions int) []byte {
	var b bytes.Buffer
	b.WriteString("package p\n")
	for i := 0; i < functions; i++ {
		fmt.Fprintf(&b, `
// f%[1]d does what it can.
func f%[1]d(a, b int, names map[string][]int) (sum int, err error) {
	for name, values := range names {
		for i, v := range values {
			if v %% (a + %[1]d) == b || len(name) > i*2 {
				sum += v*a - b<<3
				continue
			}
			switch {
			case v < 0:
				return 0, fmt.Errorf("%%s: %%d is negative", name, v)
			default:
				names[name] = append(values[:i], func(x int) int { return x * x }(v))
			}
		}
	}
	return sum, nil
}
`, i)
	}
	return b.Bytes()
}

func Program(b *harness.Batch) func() error {
	n := b.Int("n", 200, 1, "`files` to parse (the article leaves it to its driver)")
	functions := b.Int("functions", 500, 1, "of a file (ours: some 15 ms to parse; the article's take 31 ms at GOMAXPROCS=1)")
	live := b.Int("live", 20, 1, "`trees` that are kept (ours: about 60 MB)")
	return func() error {
		text := source(*functions)
		kept := make([]atomic.Pointer[ast.File], *live)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		elapsed, err := harness.Take(runtime.GOMAXPROCS(0), *n, func(i int) error {
			file, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.ParseComments)
			if err == nil && len(file.Decls) != *functions {
				err = fmt.Errorf("a tree of %d functions, want %d", len(file.Decls), *functions)
			}
			kept[i%*live].Store(file)
			return err
		})
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(kept)
		if err == nil {
			b.Result("BenchmarkGarbage %d %.0f ns/op %.0f B/op %d gcs", *n, float64(elapsed.Nanoseconds())/float64(*n),
				float64(after.TotalAlloc-before.TotalAlloc)/float64(*n), after.NumGC-before.NumGC)
		}
		return err
	}
}

// A program that allocates, in the place of document 002's garbage: workers, one
// for each P, parse Go source over and over and keep the last trees alive, so
// that the collector has much to mark. The collector's own work is parallel too.
// (The document's parses net/http; ours parses text that it writes itself.)
package garbage

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// source is a Go file of so many functions.
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

// Main runs the program.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("garbage", flag.ContinueOnError)
	flags.SetOutput(stderr)
	n := flags.Int("n", 200, "`files` to parse (the document leaves it to its driver)")
	functions := flags.Int("functions", 500, "of a file (ours: some 15 ms to parse; the document's take 31 ms at GOMAXPROCS=1)")
	live := flags.Int("live", 20, "`trees` that are kept (ours: about 60 MB)")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "garbage: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *n < 1 || *functions < 1 || *live < 1 {
		fmt.Fprintln(stderr, "garbage: -n, -functions and -live must be at least 1")
		return 2
	}
	log.New(stderr, "", log.LstdFlags).Printf("garbage: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	text := source(*functions)
	kept := make([]atomic.Pointer[ast.File], *live)
	failed := make(chan error, *n)
	var taken atomic.Int64
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	var wg sync.WaitGroup
	for w := 0; w < runtime.GOMAXPROCS(0); w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := taken.Add(1) - 1; i < int64(*n); i = taken.Add(1) - 1 {
				file, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.ParseComments)
				if err == nil && len(file.Decls) != *functions {
					err = fmt.Errorf("a tree of %d functions, want %d", len(file.Decls), *functions)
				}
				if err != nil {
					failed <- err
					return
				}
				kept[i%int64(*live)].Store(file)
			}
		}()
	}
	wg.Wait()
	elapsed := time.Since(start)
	runtime.ReadMemStats(&after)
	if len(failed) > 0 {
		fmt.Fprintf(stderr, "garbage: %v\n", <-failed)
		return 1
	}
	runtime.KeepAlive(kept)
	fmt.Fprintf(stdout, "BenchmarkGarbage %d %.0f ns/op %.0f B/op %d gcs\n", *n,
		float64(elapsed.Nanoseconds())/float64(*n), float64(after.TotalAlloc-before.TotalAlloc)/float64(*n), after.NumGC-before.NumGC)
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

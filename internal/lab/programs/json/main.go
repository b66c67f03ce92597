// A program that encodes and decodes JSON, in the place of document 002's json:
// workers, one for each P, turn a tree of records into text and back. They share
// nothing but the collector.
package json

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

type record struct {
	Name     string             `json:"name"`
	ID       int64              `json:"id"`
	Weight   float64            `json:"weight"`
	Tags     []string           `json:"tags"`
	Scores   map[string]float64 `json:"scores"`
	Children []*record          `json:"children,omitempty"`
}

// tree is a record with so many levels below it, four records on each.
func tree(name string, levels int) *record {
	r := &record{
		Name:   name,
		ID:     int64(len(name)) * 1_000_003,
		Weight: float64(len(name)) / 7,
		Tags:   []string{"alpha", "beta \"quoted\"", "ünïcode", name},
		Scores: map[string]float64{"first": 0.125, "second": 1e-9, "third": -42},
	}
	for i := 0; levels > 0 && i < 4; i++ {
		r.Children = append(r.Children, tree(fmt.Sprintf("%s/%d", name, i), levels-1))
	}
	return r
}

// roundTrip fails unless what comes back is what went in.
func roundTrip(in *record) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	var out record
	if err := json.Unmarshal(text, &out); err != nil {
		return err
	}
	if !reflect.DeepEqual(in, &out) {
		return fmt.Errorf("another tree came back from %d bytes of JSON", len(text))
	}
	return nil
}

// Main runs the program.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("json", flag.ContinueOnError)
	flags.SetOutput(stderr)
	n := flags.Int("n", 15, "round `trips` in all (the document leaves it to its driver)")
	levels := flags.Int("levels", 7, "of the tree, 4 records to each (ours: 21845 records, some 150 ms; the document's take 145 ms at GOMAXPROCS=1)")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "json: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *n < 1 || *levels < 0 || *levels > 9 {
		fmt.Fprintln(stderr, "json: -n must be at least 1, -levels 0 to 9")
		return 2
	}
	log.New(stderr, "", log.LstdFlags).Printf("json: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	in := tree("root", *levels)
	failed := make(chan error, *n)
	var taken atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for w := 0; w < runtime.GOMAXPROCS(0); w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for taken.Add(1) <= int64(*n) {
				if err := roundTrip(in); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	wg.Wait()
	elapsed := time.Since(start)
	if len(failed) > 0 {
		fmt.Fprintf(stderr, "json: %v\n", <-failed)
		return 1
	}
	fmt.Fprintf(stdout, "BenchmarkJSON %d %.0f ns/op\n", *n, float64(elapsed.Nanoseconds())/float64(*n))
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

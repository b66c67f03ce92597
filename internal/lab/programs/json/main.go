// A program that encodes and decodes JSON, in the place of document 002's json:
// workers, one for each P, turn a tree of records into text and back. They share
// nothing but the collector.
package json

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

type record struct {
	Name     string             `json:"name"`
	ID       int64              `json:"id"`
	Weight   float64            `json:"weight"`
	Tags     []string           `json:"tags"`
	Scores   map[string]float64 `json:"scores"`
	Children []*record          `json:"children,omitempty"`
}

// tree is a record with that many levels below it, four records on each.
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

func Program(b *harness.Batch) func() error {
	n := b.Int("n", 15, 1, "round `trips` in all (the article leaves it to its driver)")
	levels := b.Int("levels", 7, 0, "of the tree, 4 records to each (ours: 21845 records, some 150 ms; the article's take 145 ms at GOMAXPROCS=1)")
	b.Check(func() bool { return *levels <= 9 }, "-levels must be at most 9")
	return func() error {
		in := tree("root", *levels)
		elapsed, err := harness.Take(runtime.GOMAXPROCS(0), *n, func(int) error { return roundTrip(in) })
		if err == nil {
			b.Result("BenchmarkJSON %d %.0f ns/op", *n, float64(elapsed.Nanoseconds())/float64(*n))
		}
		return err
	}
}

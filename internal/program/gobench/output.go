package gobench

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// Result is what one benchmark measured.
type Result struct {
	Name   string             // without Benchmark and the GOMAXPROCS suffix: Parse/small
	Lines  int                // of output, more than one with -count
	Values map[string]float64 // mean over the lines, by unit as printed: ns/op, B/op, MB/s
}

// ParseOutput finds the benchmark lines in a test binary's output, in the order
// of first appearance. procs is the GOMAXPROCS that it ran with, or 0 where that
// is not known: the suffix -N is then taken off if every line has the same one.
// (A benchmark's own name may end in -N; at GOMAXPROCS=1 there is no suffix.)
func ParseOutput(output []byte, procs int) ([]Result, error) {
	type sum struct{ total, n float64 }
	var order []string
	lines, sums := map[string]int{}, map[string]map[string]sum{}
	reader := benchfmt.NewReader(bytes.NewReader(output), "output")
	for reader.Scan() {
		r, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue // what a program prints between its results may look like one
		}
		name := r.Name.String()
		if lines[name]++; lines[name] == 1 {
			order = append(order, name)
			sums[name] = map[string]sum{}
		}
		for _, v := range r.Values {
			if v.OrigUnit != "" { // the reader converts to base units
				v.Value, v.Unit = v.OrigValue, v.OrigUnit
			}
			s := sums[name][v.Unit]
			sums[name][v.Unit] = sum{s.total + v.Value, s.n + 1}
		}
	}
	if err := reader.Err(); err != nil {
		return nil, fmt.Errorf("benchmark output: %w", err)
	}
	suffix := procsSuffix(order, procs)
	var results []Result
	for _, name := range order {
		values := map[string]float64{}
		for unit, s := range sums[name] {
			values[unit] = s.total / s.n
		}
		results = append(results, Result{Name: strings.TrimSuffix(name, suffix), Lines: lines[name], Values: values})
	}
	return results, nil
}

// procsSuffix is what testing appended to each name.
func procsSuffix(names []string, procs int) string {
	switch {
	case procs == 1 || len(names) == 0:
		return ""
	case procs > 1:
		return fmt.Sprintf("-%d", procs)
	}
	dash := strings.LastIndexByte(names[0], '-')
	if dash < 0 || dash+1 == len(names[0]) || strings.Trim(names[0][dash+1:], "0123456789") != "" {
		return ""
	}
	for _, name := range names {
		if !strings.HasSuffix(name, names[0][dash:]) {
			return ""
		}
	}
	return names[0][dash:]
}

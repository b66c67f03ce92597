package gobench

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/procfit/procfit/internal/show/pattern"
)

// Package testing writes a benchmark's name, padded with blanks and with a tab behind it, as
// the benchmark starts, and the result as it ends: the number of iterations, and a tab before
// each value (BenchmarkResult.String). Each is written at once, so whatever the code logs
// meanwhile is between them, before them or on the lines between.
var (
	startedName = pattern.Of(`Benchmark((?:[^a-z\s]\S*)?) *\t`)
	resultEnd   = pattern.Of(`(\d+(?:\t *(?:[-+]?[0-9.]+|NaN|[-+]Inf) \S+)+)$`)
)

// join is the lines of an output that are results, each behind its name again, and the
// names, without Benchmark, of those that have none.
func join(output []byte) (results []byte, lost []string) {
	name, begun := "", false
	end := func() {
		if begun {
			lost = append(lost, name)
		}
		begun = false
	}
	for line := range bytes.Lines(output) {
		line = bytes.TrimRight(line, "\r\n")
		if wholeResult(line) {
			end()
			results = append(append(results, line...), '\n')
			continue
		}
		result := resultEnd().Find(line)
		before := line[:len(line)-len(result)]
		if found := startedName().FindAllSubmatch(before, -1); len(found) > 0 {
			for _, m := range found {
				end()
				name, begun = string(m[1]), true
			}
		}
		if begun && result != nil {
			results = append(results, "Benchmark"+name+" "...)
			results = append(append(results, result...), '\n')
			begun = false
		}
	}
	end()
	slices.Sort(lost)
	return results, slices.Compact(lost)
}

// wholeResult reports that a line is a result with its name, as benchstat reads it.
func wholeResult(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("Benchmark")) {
		return false
	}
	r := benchfmt.NewReader(strings.NewReader(string(line)+"\n"), "")
	if !r.Scan() {
		return false
	}
	_, ok := r.Result().(*benchfmt.Result)
	return ok
}

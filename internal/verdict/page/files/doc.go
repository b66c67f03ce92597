// Package files writes a Result into a results directory in every form: RESULTS.md,
// report.html, result.json, bench.txt and reproduce.sh. Each file is replaced as
// a whole or not at all; a reader never sees half of one. The same Result gives
// the same bytes.
package files

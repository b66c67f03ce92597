package text

import "testing"

// The capital of µ is an M: 200 µs would read as 200 ms.
func TestCapitals(t *testing.T) {
	if got, want := capitals("Throughput with p99 within 200 µs"), "THROUGHPUT WITH P99 WITHIN 200 µs"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

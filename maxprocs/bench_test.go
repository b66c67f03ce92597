package maxprocs

import "testing"

// The comparison with automaxprocs is in test/automaxprocs.
func BenchmarkSet(b *testing.B) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		if undo, err := Set(); err != nil {
			b.Fatal(err)
		} else {
			undo()
		}
	}
}

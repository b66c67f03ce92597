package automaxprocs

import (
	"runtime"
	"testing"

	"go.uber.org/automaxprocs/maxprocs"

	procfit "github.com/procfit/procfit/maxprocs"
)

// BenchmarkSet is one call of each Set and of its undo.
func BenchmarkSet(b *testing.B) {
	for _, bc := range []struct {
		name string
		set  func() (func(), error)
	}{
		{"automaxprocs", func() (func(), error) { return maxprocs.Set() }},
		{"procfit", func() (func(), error) { return procfit.Set() }},
	} {
		b.Run(bc.name, func(b *testing.B) {
			before := runtime.GOMAXPROCS(0)
			b.ReportAllocs()
			for b.Loop() {
				undo, err := bc.set()
				if err != nil {
					b.Fatal(err)
				}
				undo()
			}
			if after := runtime.GOMAXPROCS(0); after != before {
				b.Errorf("GOMAXPROCS is %d, was %d", after, before)
			}
		})
	}
}

// Set allocates at most 10 times.
func TestAllocations(t *testing.T) {
	count := func(set func() (func(), error)) float64 {
		return testing.AllocsPerRun(20, func() {
			undo, err := set()
			if err != nil {
				t.Fatal(err)
			}
			undo()
		})
	}
	ours := count(func() (func(), error) { return procfit.Set() })
	theirs := count(func() (func(), error) { return maxprocs.Set() })
	t.Logf("allocations: %v, automaxprocs %v", ours, theirs)
	if ours > 10 || ours > theirs/2 {
		t.Errorf("%v allocations, automaxprocs %v", ours, theirs)
	}
}

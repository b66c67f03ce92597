package exec

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"
)

func TestFairness(t *testing.T) {
	ran := func(name string, ms ...int) (list []Goroutine) {
		for _, n := range ms {
			g := Goroutine{Func: name, Running: time.Duration(n) * time.Millisecond}
			if n > 0 {
				g.Spans = 1
			}
			list = append(list, g)
		}
		return list
	}
	runtimes := ran("runtime.gcBgMarkWorker", 100, 100)
	for i := range runtimes {
		runtimes[i].Runtime = true
	}
	var all []Goroutine
	for _, list := range [][]Goroutine{ran("main.fair", 10, 10, 10, 10), ran("main.unfair", 30, 10), ran("main.main", 50), ran("", 5, 5), ran("main.never", 0, 0), ran("main.a", 1, 1), ran("main.b", 1, 1), runtimes} {
		all = append(all, list...)
	}
	tr := &Trace{Goroutines: all}
	got := tr.Fairness()
	want := []Fairness{
		{"main.fair", 4, 40 * time.Millisecond, 10 * time.Millisecond, 10 * time.Millisecond, 1},
		{"main.unfair", 2, 40 * time.Millisecond, 10 * time.Millisecond, 30 * time.Millisecond, 0.8},
		{"main.a", 2, 2 * time.Millisecond, time.Millisecond, time.Millisecond, 1},
		{"main.b", 2, 2 * time.Millisecond, time.Millisecond, time.Millisecond, 1},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, a := range got {
		if math.Abs(a.Jain-want[i].Jain) > 1e-9 {
			t.Errorf("%+v, want %+v", a, want[i])
		}
		if a.Jain = want[i].Jain; a != want[i] {
			t.Errorf("%+v, want %+v", a, want[i])
		}
	}
	if tr.Dropped.Goroutines = 1; tr.Fairness() != nil {
		t.Error("fairness of goroutines that are not all there")
	}
}

// Recorded traces have sixteen workers. They compute the same, but threads waited for a CPU.
func TestFairnessOfRecordedTraces(t *testing.T) {
	for _, file := range recorded(t) {
		tr, err := Read(bytes.NewReader(load(t, file)), Options{})
		if err != nil {
			t.Fatal(file, err)
		}
		found := false
		for _, a := range tr.Fairness() {
			found = found || a.Goroutines == 16 && strings.HasPrefix(a.Func, "main.")
			if a.Jain > 1+1e-9 || a.Jain < 1/float64(a.Goroutines)-1e-9 || a.Least > a.Most {
				t.Errorf("%s: %+v", file, a)
			}
		}
		if !found {
			t.Errorf("%s: no sixteen goroutines of one function: %+v", file, tr.Fairness())
		}
	}
}

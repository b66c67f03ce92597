package verdict

import (
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Benchmarks are the Go benchmarks of a group, each by itself: their geometric mean is
// the throughput, and alike in the mean may be apart in each.
type Benchmarks struct {
	Procs []int       // of the values, a time of each benchmark each
	Base  int         // index of the value that others are compared with: the default, else the smallest
	List  []Benchmark // by name
	Mean  []BenchmarkTime
}

// Benchmark is one of them.
type Benchmark struct {
	Name  string
	Times []BenchmarkTime // by value
	// Wants is the number of Ps at which it is proven better, beyond the margin, than at
	// the one that the verdict names; null where there is none.
	Wants *int
}

// BenchmarkTime is the time of an operation at one value.
type BenchmarkTime struct {
	Setting string // label of the value's row
	Seconds Interval
	// VersusBase is as a ratio, with bounds of which all in the table hold with 95%.
	VersusBase Interval
	Differs    bool // the bounds exclude that it is the same
}

// timed is how a benchmark's time of an operation is called in a journal.
const timed = " ns/op"

// benchmarks are nil where fewer than two were timed, or nothing can be compared.
func (g *group) benchmarks(w *outcome) *Benchmarks {
	var names []string
	for _, a := range g.measured() {
		for _, t := range a.measure {
			for name, m := range t.Metrics {
				if m.Unit == "ns/op" && strings.HasSuffix(name, timed) && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	if g.unit() != "operations" || len(names) < 2 || len(w.contenders) == 0 {
		return nil
	}
	slices.Sort(names)
	b := &Benchmarks{Base: max(0, slices.IndexFunc(w.contenders, func(s *contender) bool { return s.isDefault }))}
	for _, s := range w.contenders {
		b.Procs = append(b.Procs, s.procs)
	}
	// The error of 5% is shared among the two bounds of every comparison.
	alpha := 0.05 / float64(2*max(1, (len(names)+1)*(len(w.contenders)-1)))
	for _, name := range names {
		of := func(t *journal.Trial) *float64 {
			if m, ok := t.Metrics[name]; ok {
				return new(m.Value * 1e-9)
			}
			return nil
		}
		one := Benchmark{Name: strings.TrimSuffix(name, timed), Times: g.times(w.contenders, b.Base, of, alpha)}
		for i := range w.losses {
			if l := &w.losses[i]; l.part && l.name == name {
				one.Wants = new(l.better.procs)
			}
		}
		b.List = append(b.List, one)
	}
	b.Mean = g.times(w.contenders, b.Base, func(t *journal.Trial) *float64 {
		if x := t.ThroughputPerSecond; x != nil && *x > 0 {
			return new(1 / *x)
		}
		return nil
	}, alpha)
	return b
}

// times are those of an operation at each value, compared with the base block by block.
func (g *group) times(contenders []*contender, base int, of figure, alpha float64) []BenchmarkTime {
	var list []BenchmarkTime
	for i, s := range contenders {
		var all []float64
		for _, a := range s.settings {
			all = append(append(all, values(a.measure, of)...), values(a.aa, of)...)
		}
		t := BenchmarkTime{Setting: s.label, Seconds: medianOf(all)}
		if d := g.seriesOf(s, of).minus(g.seriesOf(contenders[base], of)); i != base && len(d) > 0 {
			low, high := boundsAt(d, alpha)
			t.VersusBase = Interval{Median: ratio(stat.Mean(d, nil)), Low: ratio(low), High: ratio(high), N: len(d)}
			t.Differs = low > 0 || high < 0
		}
		list = append(list, t)
	}
	return list
}

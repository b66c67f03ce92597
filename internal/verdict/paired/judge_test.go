package paired

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/eprocess"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/chance"
)

// than is how many times the start value's figures those of a value are.
type than struct{ cpu, p50, p99, requests float64 }

// experiment is 60 blocks of the control and a value, at 3% of noise.
func experiment(seed uint64, is than, change func(*Slice)) (list []Slice) {
	w := world{r: rand.New(rand.NewPCG(seed, 1)), noise: 0.03, burnIn: 2}
	for b := range 60 {
		for _, s := range w.block(b, rules(2)) {
			s.Figures = append(s.Figures, math.NaN())
			if s.Value == 1 {
				for metric, x := range []float64{is.cpu, is.p50, is.p99, is.requests} {
					s.times(metric, x)
				}
			}
			if change != nil {
				change(&s)
			}
			list = append(list, s)
		}
	}
	return list
}

func TestJudge(t *testing.T) {
	cpuAlone, asked := rules(2), rules(2, "served")
	for metric := p50; metric <= p99; metric++ {
		cpuAlone.Metrics[metric].Direction, asked.Metrics[metric].Direction = Shown, Shown
		cpuAlone.Metrics[metric].Halves, asked.Metrics[metric].Halves = false, false
	}
	for name, c := range map[string]struct {
		rules   Rules
		is      than
		change  func(*Slice)
		want    Outcome
		unequal bool
	}{
		"nothing differs":                        {rules(2), than{1, 1, 1, 1}, nil, Same, false},
		"less CPU, and no longer":                {rules(2), than{0.9, 1, 1, 1}, nil, Better, false},
		"less CPU, and p99 may be longer":        {rules(2), than{0.9, 1, 1.19, 1}, nil, Mixed, false},
		"more CPU by less than the margin":       {rules(2), than{1.02, 1, 1, 1}, nil, Same, false},
		"more CPU":                               {rules(2), than{1.1, 1, 1, 1}, nil, Worse, false},
		"longer":                                 {rules(2), than{1, 1, 1.5, 1}, nil, Worse, false},
		"less CPU, and longer":                   {rules(2), than{0.9, 1, 1.5, 1}, nil, Mixed, false},
		"less CPU alone is known":                {cpuAlone, than{0.9, 1, 1, 1}, nil, Cheaper, false},
		"a latency that is not judged":           {cpuAlone, than{0.9, 3, 3, 1}, nil, Cheaper, false},
		"a query without an answer":              {asked, than{0.9, 1, 1, 1}, nil, Cheaper, false},
		"a query that is less":                   {asked, than{1, 1, 1, 1}, served(5, 4), Better, false},
		"a query that is the same":               {asked, than{0.9, 1, 1, 1}, served(5, 5), Better, false},
		"a query that is more":                   {asked, than{1, 1, 1, 1}, served(5, 7), Worse, false},
		"less CPU, and a query is more":          {asked, than{0.9, 1, 1, 1}, served(5, 7), Mixed, false},
		"a query of errors, of which are none":   {asked, than{0.9, 1, 1, 1}, served(0, 0), Cheaper, false},
		"a query of errors that none had before": {asked, than{0.9, 1, 1, 1}, served(0, 0.1), Mixed, false},
		"a query of errors that are gone":        {asked, than{1, 1, 1, 1}, served(0.1, 0), Better, false},
		"a query of errors in few slices": {asked, than{1, 1, 1, 1}, func(s *Slice) {
			served(0, 0)(s)
			if s.Block%4 == 0 {
				s.Figures[query] = float64(s.Value)
			}
		}, Worse, false},
		"a query with an answer in one of three": {asked, than{0.9, 1, 1, 1}, func(s *Slice) {
			if s.Block%3 == 0 {
				served(5, 5)(s)
			}
		}, Cheaper, false},
		"the traffic differs":       {rules(2), than{0.9, 1, 1, 1.2}, nil, Undecided, true},
		"the traffic differs by 2%": {rules(2), than{0.9, 1, 1, 1.02}, nil, Better, false},
		"left twice":                {rules(2), than{0.9, 1, 1, 1}, voids(journal.InvalidLeft, 5, 7), Left, false},
		"left twice, once as the start value would have been": {rules(2), than{0.9, 1, 1, 1}, func(s *Slice) {
			voids(journal.InvalidLeft, 5, 6)(s)
			if s.Block == 6 && s.Value == 0 {
				s.Void = journal.InvalidLoaded
			}
		}, Better, false},
		"left twice, but rarely, and the slices between are void": {rules(2), than{0.9, 1, 1, 1}, func(s *Slice) {
			if voids(journal.InvalidLeft, 5, 15)(s); s.Block < 20 && s.Void == "" {
				s.Carried = true
			}
		}, Better, false},
		"left three times, but rarely":         {rules(2), than{0.9, 1, 1, 1}, voids(journal.InvalidLeft, 5, 9, 20), Better, false},
		"left once":                            {rules(2), than{0.9, 1, 1, 1}, voids(journal.InvalidLeft, 5), Better, false},
		"all slices before are void":           {rules(2), than{0.9, 1, 1, 1}, func(s *Slice) { s.Carried = true }, Undecided, false},
		"no slice of the start value":          {rules(2), than{0.9, 1, 1, 1}, func(s *Slice) { s.Void = []journal.InvalidCode{journal.InvalidLoaded, ""}[s.Value] }, Undecided, false},
		"nothing is known":                     {rules(2), than{1, 1, 1, 1}, func(s *Slice) { s.Figures = []float64{math.Inf(1), math.NaN(), math.NaN(), 0, math.NaN(), 0} }, Undecided, false},
		"latency is never known":               {rules(2), than{0.9, 3, 3, 1}, func(s *Slice) { s.Figures[p50], s.Figures[p99] = math.NaN(), math.NaN() }, Cheaper, false},
		"p99 is beyond its buckets":            {rules(2), than{0.9, 1, 1, 1}, beyond(1), Mixed, false},
		"p99 is beyond them in a third":        {rules(2), than{0.9, 1, 1, 1}, beyond(3), Cheaper, false},
		"cheaper, and one request in 50 fails": {rules(2), than{0.9, 1, 1, 1}, func(s *Slice) { s.Figures[failed] = float64(s.Value) / 50 }, Worse, false},
		"both fail equally":                    {rules(2), than{0.9, 1, 1, 1}, func(s *Slice) { s.Figures[failed] = 0.02 }, Better, false},
		"p99 has no answer in two of three":    {rules(2), than{0.9, 1, 1, 1}, func(s *Slice) { s.Figures[p99] *= float64(1 - min(1, s.Block%3)) }, Better, false},
	} {
		list := experiment(1, c.is, c.change)
		got := Judge(c.rules, list)
		v := got.Values[0]
		if v.Outcome != c.want || v.Unequal != c.unequal || got.Carried {
			t.Errorf("%s: %q, unequal %v, carry-over %v; want %q, %v", name, v.Outcome, v.Unequal, got.Carried, c.want, c.unequal)
			for _, b := range v.Bounds {
				t.Logf("%+v", b)
			}
		}
		if !reflect.DeepEqual(got, Judge(c.rules, list)) {
			t.Errorf("%s: judged again, it is another verdict", name)
		}
	}
}

// What was left in a burst of the traffic is excused, also after the burn-in became longer.
func TestCarriedBurst(t *testing.T) {
	var list []Slice
	for b := range 2 {
		list = append(list, Slice{Block: b, Void: journal.InvalidLoaded}, Slice{Block: b, Value: 1, After: -1, Void: journal.InvalidLeft})
	}
	CarriedOver(list)
	if v := Judge(rules(2), list).Values[0]; v.Outcome != Undecided {
		t.Errorf("%q", v.Outcome)
	}
}

// served is a query's number of the start value and of the value, with 3% of noise.
func served(start, value float64) func(*Slice) {
	r := rand.New(rand.NewPCG(7, 7))
	return func(s *Slice) {
		s.Figures[query] = []float64{start, value}[s.Value] * math.Exp(0.03*r.NormFloat64())
	}
}

// beyond is a p99 of the value that is beyond the buckets of its histogram, in one of that many blocks.
func beyond(of int) func(*Slice) {
	return func(s *Slice) {
		if s.Value == 1 && s.Block%of == 0 {
			s.Figures[p99] = math.Inf(1)
		}
	}
}

// Where most of one side is beyond the buckets of a histogram, its median is, and there is no ratio:
// the slices that have one say nothing of the others.
func TestMediansBeyond(t *testing.T) {
	for side, want := range []verdict.Outcome{verdict.OutcomeBetter, verdict.OutcomeWorse} {
		list := experiment(1, than{1, 1, 1, 1}, func(s *Slice) {
			if s.Value == side && s.Block%3 > 0 {
				s.Figures[p99] = math.Inf(1)
			}
		})
		f := rules(2).Setting(1, Judge(rules(2), list), list).Figures[p99]
		if f.Outcome != want || f.Ratio.Median != nil || (f.Control.Median == nil) != (side == 0) || (f.Value.Median == nil) != (side == 1) {
			t.Errorf("side %d: %+v", side, f)
		}
	}
}

// voids are the value's slices of some blocks.
func voids(why journal.InvalidCode, blocks ...int) func(*Slice) {
	return func(s *Slice) {
		for _, b := range blocks {
			if s.Value == 1 && s.Block == b {
				s.Void = why
			}
		}
	}
}

// The bounds are those of the figures, and contradict no outcome.
func TestBounds(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		is := than{math.Exp(0.1 * r.NormFloat64()), math.Exp(0.1 * r.NormFloat64()), math.Exp(0.2 * r.NormFloat64()), 1}
		list := experiment(seed, is, nil)
		for n := 0; n <= len(list); n += 6 {
			for _, b := range Judge(rules(2), list[:n]).Values[0].Bounds {
				switch o := b.Outcome; {
				case b.Direction != NoMore && b.Pairs != n/2 || !(b.Low <= b.Ratio && b.Ratio <= b.High),
					o == verdict.OutcomeBetter && b.High >= 1,
					o == verdict.OutcomeWorse && b.Low <= 1,
					o == verdict.OutcomeWithin && b.High >= 1+b.Margin,
					b.Same && (b.High >= 1+b.Margin || b.Low <= 1/(1+b.Margin)):
					t.Errorf("after %d slices: %+v", n, b)
				}
			}
		}
	}
}

// Few pairs prove nothing, however close together they are, which the sequence alone would have as
// proven.
func TestFewPairs(t *testing.T) {
	for d, want := range map[float64][2]verdict.Outcome{ // after 7 and after 12 pairs
		-0.1: {verdict.OutcomeUndecided, verdict.OutcomeBetter}, 0.001: {verdict.OutcomeUndecided, verdict.OutcomeWithin}, 0.1: {verdict.OutcomeUndecided, verdict.OutcomeWorse},
	} {
		f := newProof(rules(2)).values[0].figures[cpu]
		for n := range 12 {
			f.add(math.Exp(d+1e-4*float64(n%2)), 1)
			if b := f.bounds(rules(2).level(), false); n == 6 && b.Outcome != want[0] || n == 11 && b.Outcome != want[1] {
				t.Errorf("%g, after %d pairs: %+v", d, n+1, b)
			}
		}
	}
}

// Slices with the sign alone known: nothing but the order of their sizes decides.
func TestSigns(t *testing.T) {
	for name, c := range map[string]struct {
		d            func(i int) float64
		above, below int // after how many, at 1 of 280; 0: never
	}{
		"all above":           {func(i int) float64 { return 1 + 0.001*float64(i%7) }, 10, 0},
		"all below":           {func(i int) float64 { return -1 - 0.001*float64(i%7) }, 0, 10},
		"all the same":        {func(int) float64 { return 0 }, 0, 0},
		"one side, then both": {func(i int) float64 { return float64(1 - 2*(i%2)) }, 0, 0},
		"an outlier":          {func(i int) float64 { return []float64{1, -1e9}[min(1, max(0, i-4)*max(0, 6-i))] }, 15, 0},
	} {
		var s eprocess.Signs
		above, below := 0, 0
		for i := range 100 {
			s.Add(c.d(i))
			if s.IsAbove(1./280) && above == 0 {
				above = i + 1
			}
			if s.IsBelow(1./280) && below == 0 {
				below = i + 1
			}
		}
		if above != c.above || below != c.below {
			t.Errorf("%s: above after %d, below after %d; want %d, %d", name, above, below, c.above, c.below)
		}
	}
}

// Fair coins reach 1/alpha in alpha of all cases at most, whatever the sizes are.
func TestFairSigns(t *testing.T) {
	n := chance.RunsOf(200)
	for name, size := range map[string]func(i int, won bool) float64{
		"all the same":                   func(int, bool) float64 { return 1 },
		"ever larger":                    func(i int, _ bool) float64 { return float64(1 + i) },
		"ever smaller":                   func(i int, _ bool) float64 { return 1 / float64(1+i) },
		"larger after a win":             func(_ int, won bool) float64 { return map[bool]float64{true: 2, false: 1}[won] },
		"one in three is a thousandfold": func(i int, _ bool) float64 { return math.Pow(1000, float64(1-min(1, i%3))) },
	} {
		reached := 0
		for seed := range n {
			r, won := rand.New(rand.NewPCG(uint64(seed), 5)), false
			var s eprocess.Signs
			for i := range 100 {
				d := size(i, won)
				if won = r.IntN(2) == 0; !won {
					d = -d
				}
				s.Add(d)
				if s.IsAbove(0.05) {
					reached++
					break
				}
			}
		}
		if reached > chance.Most(n, 0.05) {
			t.Errorf("%s: %d of %d", name, reached, n)
		}
	}
}

// All that may be claimed shares the 5%.
func TestLevel(t *testing.T) {
	asked := rules(2, "a", "b")
	asked.Metrics[p50].Direction, asked.Metrics[p99].Direction = Shown, Shown
	for _, c := range []struct {
		rules Rules
		want  float64 // claims
	}{{Rules{}, 1}, {asked, 7}, {rules(2), 7}, {rules(4), 21}, {rules(6), 35}} {
		if got := alpha / c.rules.level(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: shared by %g, want %g", c.rules, got, c.want)
		}
	}
}

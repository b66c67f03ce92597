package paired

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/procfit/procfit/test/chance"
)

// times makes a metric so many times what it is.
func (s *Slice) times(metric int, x float64) {
	s.Figures[metric] *= x
	for _, half := range s.Halves {
		if metric < len(half) {
			half[metric] *= x
		}
	}
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(of) }

// most is what a promise allows: exactly that of all runs, and chance more of fewer.
func most(n int, p float64) int {
	if n >= 10_000 {
		return int(p * float64(n))
	}
	return chance.Most(n, p)
}

// simulation is an experiment whose blocks are drawn, each with the time at its end: in seconds
// of one process, and in slices of a canary.
type simulation struct {
	Rules
	block func(n int) ([]Slice, float64)
}

// ended is what is true of an experiment after some time, with a look after each block: that
// a difference is claimed of any value, and when of the first one, that one is left too often to
// go on, that carry-over is claimed, and when it ends for harm, if ever.
type ended struct {
	claimed, left, carried bool
	first, harm            float64
}

func (s simulation) run(most float64) (e ended) {
	p := newProof(s.Rules)
	var all []Slice
	for n := 0; s.Blocks == 0 || n < s.Blocks; n++ {
		list, at := s.block(n)
		if at > most {
			break
		}
		p.add(list)
		l := p.look()
		e.claimed, e.left, e.carried = e.claimed || claims(l), e.left || leaves(l), e.carried || l.Carried
		if o := l.Values[0].Outcome; e.first == 0 && o != Undecided && o != Same {
			e.first = at
		}
		if all = append(all, list...); s.Harm(all) != nil {
			e.harm = at
			break
		}
	}
	return e
}

// claims reports that it claims that a difference of a value is proven.
func claims(l Look) bool {
	return slices.ContainsFunc(l.Values, func(v Judged) bool { return v.Outcome != Undecided && v.Outcome != Same && v.Outcome != Left })
}

func leaves(l Look) bool {
	return slices.ContainsFunc(l.Values, func(v Judged) bool { return v.Outcome == Left })
}

// blocks are a simulation in a world.
func (w world) blocks(r Rules) simulation {
	return simulation{r, func(n int) ([]Slice, float64) {
		list := w.block(n, r)
		return list, w.at
	}}
}

// TestFalseAlarms: of values that do not differ nothing is claimed in 95 of 100 experiments,
// and of a live one in 98, with a look after each block, whatever the traffic, and none ends
// for harm. That one alone is in 1 of 100 at most, at any margin. Carry-over is claimed in 5,
// which costs time alone.
func TestFalseAlarms(t *testing.T) {
	type row struct {
		name                 string
		runs                 int
		simulation           func(seed uint64) simulation
		most                 float64 // how long it is
		wrong, harm, carried float64 // at most: what claims something or ends for harm, what ends for harm, and what claims carry-over
	}
	var rows []row
	for _, c := range worlds {
		for _, values := range []int{2, 4, 6} {
			rows = append(rows, row{fmt.Sprintf("live, %s, %d values", c.name, values), chance.RunsOf(100), func(seed uint64) simulation {
				w := c.world
				w.r, w.burnIn = rand.New(rand.NewPCG(seed, uint64(values))), 2
				return w.blocks(rules(values)).byBlocks()
			}, 60, 0.02, 0, max(0.05, c.reported)})
		}
		rows = append(rows, row{"live, with queries, " + c.name, chance.RunsOf(100), func(seed uint64) simulation {
			w := c.world
			w.r, w.burnIn = rand.New(rand.NewPCG(seed, 9)), 2
			return w.asked("late", "errors").byBlocks()
		}, 60, 0.02, 0.01, max(0.05, c.reported)})
	}
	for _, c := range equalPods {
		rows = append(rows, row{"canary, " + c.name, chance.RunsOf(100), func(seed uint64) simulation {
			return asking(rand.New(rand.NewPCG(seed, 25)), c.traffic, 1, 0.2, 1)
		}, 30, 0.05, 0.01, 0})
		r := rand.New(rand.NewPCG(25, 1))
		rows = append(rows, row{"canary, harm, " + c.name, min(chance.RunsOf(1000), 10_000), func(uint64) simulation {
			s := asking(r, c.traffic, 1, 0, 1)
			s.Metrics[0].Direction = Shown
			return s
		}, 30, 0.01, 0.01, 0})
	}
	for _, values := range []int{1, 3} {
		for _, noise := range []float64{0.05, 0.2} {
			rows = append(rows, row{fmt.Sprintf("canary, %d values, straying by %g%%", values, 100*noise), chance.RunsOf(100), func(seed uint64) simulation {
				return pods(rand.New(rand.NewPCG(seed, 77)), values, noise, 1)
			}, 30, 0.05, 0.01, 0})
		}
	}
	// The limit of a test that finds harm in six slices: it takes differences of one size for
	// harm where they have the same sign by chance five times, which is 1 case of 32.
	r := rand.New(rand.NewPCG(25, 4))
	rows = append(rows, row{"canary, one of both three times as long", min(chance.RunsOf(1000), 10_000), func(uint64) simulation { return asking(r, oneOfTwo, 1, 0.2, 1) }, 30, 0.12, 0.08, 0})
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wrong, harm, left, carried := 0, 0, 0, 0
			for seed := range c.runs {
				e := c.simulation(uint64(seed)).run(c.most)
				for n, is := range map[*int]bool{&wrong: e.claimed || e.harm > 0, &harm: e.harm > 0, &left: e.left, &carried: e.carried} {
					if is {
						*n++
					}
				}
			}
			t.Logf("of %d: %.2f%% claim something or end for harm, %.2f%% end for harm, %.2f%% leave a value, which is no proof, %.2f%% claim carry-over", c.runs, percent(wrong, c.runs), percent(harm, c.runs), percent(left, c.runs), percent(carried, c.runs))
			if wrong > most(c.runs, c.wrong) || harm > most(c.runs, c.harm) || carried > most(c.runs, c.carried) {
				t.Errorf("of %d experiments %d claim something or end for harm, %d end for harm, and %d claim carry-over", c.runs, wrong, harm, carried)
			}
		})
	}
}

// byBlocks has the time in blocks.
func (s simulation) byBlocks() simulation {
	return simulation{s.Rules, func(n int) ([]Slice, float64) {
		list, _ := s.block(n)
		return list, float64(n + 1)
	}}
}

// asked is a world with a p99 and errors in a third of the slices as queries, and two values.
func (w world) asked(queries ...string) simulation {
	r := rules(3, queries...)
	s := w.blocks(r)
	return simulation{r, func(n int) ([]Slice, float64) {
		list, at := s.block(n)
		for i := range list {
			list[i].Figures = append(list[i].Figures, list[i].Figures[p99], float64(w.r.IntN(3)/2))
		}
		return list, at
	}}
}

// TestPower: what must differ by how much to be found, and when. Of a live experiment that is
// CPU time per request, by minutes: 10% at 5% of noise between slices within 5 minutes in 90 of
// 100 experiments of two values. Latency is judged too, and one value alone differs. Of a canary
// it is harm, by slices: of 30% within six in 95% of canaries whose slices have 2,000 requests,
// or stray by hardly 5%; and CPU time in 30 of them.
func TestPower(t *testing.T) {
	type found struct{ within, share float64 } // of all experiments, at least
	type row struct {
		name       string
		runs       int
		simulation func(seed uint64) simulation
		harm       bool // it is harm that is looked for
		unit       float64
		want       []found
	}
	var rows []row
	for _, c := range []struct {
		values                       int
		noise, times, minutes, share float64
	}{
		{2, 0.05, 0.9, 5, 0.9}, {2, 0.05, 1.1, 5, 0.9},
		{2, 0.03, 0.95, 30, 0.9}, {2, 0.05, 0.95, 30, 0.9}, {2, 0.05, 0.9, 30, 0.99}, {2, 0.05, 0.8, 30, 0.99},
		{2, 0.1, 0.9, 30, 0.9}, {2, 0.2, 0.9, 30, 0.2}, {2, 0.2, 0.8, 30, 0.9},
		{4, 0.05, 0.95, 30, 0.5}, {4, 0.05, 0.9, 30, 0.9}, {4, 0.1, 0.9, 30, 0.5},
	} {
		rows = append(rows, row{fmt.Sprintf("live, %d values, %g%% of noise, times %g, %g min", c.values, 100*c.noise, c.times, c.minutes), chance.RunsOf(20), func(seed uint64) simulation {
			w := world{r: rand.New(rand.NewPCG(seed, 3)), noise: c.noise, burnIn: 2}
			return w.blocks(rules(c.values)).times(cpu, c.times)
		}, false, 60, []found{{c.minutes, c.share}}})
	}
	for _, c := range []struct {
		name                string
		of                  traffic
		times               float64
		comparisons         int
		six, twelve, thirty float64 // the share that is found by then, at least
	}{
		{"30%, straying by 3%", noisy(0.03, normal, steady), 1.3, 1, 0.99, 1, 1},
		{"30%, straying by 5%", noisy(0.05, normal, sharing), 1.3, 1, 0.94, 1, 1},
		{"30%, straying by 5%, of two comparisons", noisy(0.05, normal, sharing), 1.3, 2, 0.8, 0.99, 1},
		{"30%, straying by 10%", noisy(0.1, normal, sharing), 1.3, 1, 0.3, 0.93, 0.99},
		{"30%, straying by 15%", noisy(0.15, normal, sharing), 1.3, 1, 0.1, 0.5, 0.98},
		{"30%, of 1,000 requests in a slice", exponential(1000), 1.3, 1, 0.7, 0.99, 1},
		{"30%, of 2,000 requests in a slice", exponential(2000), 1.3, 1, 0.95, 0.999, 1},
		{"30%, of 5,000 requests in a slice", exponential(5000), 1.3, 1, 0.99, 1, 1},
		{"twice as long, straying by 10%", noisy(0.1, normal, bursting), 2, 1, 0.95, 1, 1},
		{"twice as long, straying by 25%", noisy(0.25, normal, bursting), 2, 1, 0.35, 0.9, 0.99},
		{"ten times, straying by 25%", noisy(0.25, normal, bursting), 10, 1, 0.99, 1, 1},
	} {
		r := rand.New(rand.NewPCG(25, 2))
		rows = append(rows, row{"canary, harm, " + c.name, min(chance.RunsOf(200), 2000), func(uint64) simulation { return asking(r, c.of, c.times, 0.2, c.comparisons) }, true, 1, []found{{6, c.six}, {12, c.twelve}, {30, c.thirty}}})
	}
	for _, c := range []struct{ errors, most float64 }{{1, 25}, {5, 8}, {50, 5}} { // of which the control has none
		r := rand.New(rand.NewPCG(25, 3))
		alone := func(r *rand.Rand, slice int, past *float64) (float64, float64) {
			errors, _ := failing(c.errors)(r, slice, past)
			return errors, 0
		}
		rows = append(rows, row{fmt.Sprintf("canary, harm, %g errors in a slice", c.errors), min(chance.RunsOf(200), 2000), func(uint64) simulation { return asking(r, alone, 1, 0.2, 1) }, true, 1, []found{{c.most, 0.95}}})
	}
	for _, c := range []struct {
		values              int
		noise, times, share float64
	}{{1, 0.03, 0.95, 0.99}, {1, 0.05, 0.95, 0.9}, {1, 0.05, 0.9, 0.99}, {1, 0.05, 1.1, 0.99}, {1, 0.1, 0.9, 0.75}, {3, 0.05, 0.95, 0.8}, {3, 0.1, 0.9, 0.6}} {
		rows = append(rows, row{fmt.Sprintf("canary, %d values, straying by %g%%, times %g", c.values, 100*c.noise, c.times), min(chance.RunsOf(200), 2000), func(seed uint64) simulation {
			return pods(rand.New(rand.NewPCG(seed, 77)), c.values, c.noise, c.times)
		}, false, 1, []found{{30, c.share}}})
	}
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var after []float64
			for seed := range c.runs {
				last := c.want[len(c.want)-1].within
				if e := c.simulation(uint64(seed)).run(c.unit * last); c.harm && e.harm > 0 {
					after = append(after, e.harm/c.unit)
				} else if !c.harm && e.first > 0 {
					after = append(after, e.first/c.unit)
				}
			}
			slices.Sort(after)
			at := func(share float64) string {
				if i := int(share * float64(c.runs)); i < len(after) {
					return fmt.Sprintf("%.1f", after[i])
				}
				return "-"
			}
			t.Logf("of %d: the median after %s, 90%% after %s", c.runs, at(0.5), at(0.9))
			for _, w := range c.want {
				n, _ := slices.BinarySearch(after, w.within+1e-9)
				t.Logf("found in %.1f%% within %g", percent(n, c.runs), w.within)
				if n < chance.Least(c.runs, w.share) {
					t.Errorf("found in %d of %d experiments within %g", n, c.runs, w.within)
				}
			}
		})
	}
}

// times makes a metric of the first value so many times what it would be.
func (s simulation) times(metric int, x float64) simulation {
	return simulation{s.Rules, func(n int) ([]Slice, float64) {
		list, at := s.block(n)
		for i := range list {
			if list[i].Value == 1 {
				list[i].times(metric, x)
			}
		}
		return list, at
	}}
}

// It is the random order that all this rests on: with one and the same in every block, a job
// that comes once a block makes nearly any two values differ.
func TestAFixedOrderFails(t *testing.T) {
	n, r := 100, rules(2)
	claimed := func(fixed bool) (n int) {
		for seed := range uint64(100) {
			p, w := newProof(r), world{r: rand.New(rand.NewPCG(seed, 6)), noise: 0.05, level: job, burnIn: 2, exact: true}
			w.at = 14 * w.r.Float64()
			for b := range 60 {
				list := w.block(b, r)
				if fixed && list[0].Value != 0 {
					list[0].Value, list[1].Value = 0, 1
				}
				p.add(list)
				if claims(p.look()) {
					n++
					break
				}
			}
		}
		return n
	}
	random, fixed := claimed(false), claimed(true)
	t.Logf("of %d experiments something is claimed in %d, with a fixed order in %d", n, random, fixed)
	if random > chance.Most(n, 0.02) || fixed < 50 {
		t.Error("it is not the order that it rests on")
	}
}

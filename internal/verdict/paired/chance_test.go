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

// claims reports that it claims a difference for a value.
func claims(l Look) bool {
	for _, v := range l.Values {
		if v.Outcome != Open && v.Outcome != Same {
			return true
		}
	}
	return false
}

// Of values that do not differ nothing is claimed in 98 of 100 experiments of 60 blocks,
// with a look after each, whatever the traffic, and carry-over in 5, which costs time alone.
func TestAA(t *testing.T) {
	n := chance.RunsOf(100)
	for _, c := range worlds {
		for _, values := range []int{2, 4, 6} {
			t.Run(fmt.Sprintf("%s, %d values", c.name, values), func(t *testing.T) {
				t.Parallel()
				claimed, carried, r := 0, 0, rules(values)
				for seed := range n {
					w, p := c.world, newProof(r)
					w.r, w.burnIn = rand.New(rand.NewPCG(uint64(seed), uint64(values))), 2
					some, behind := false, false
					for b := range 60 {
						p.add(w.block(b, r))
						l := p.look()
						some, behind = some || claims(l), behind || l.Carried
					}
					if some {
						claimed++
					}
					if behind {
						carried++
					}
				}
				t.Logf("of %d: %.2f%% claim something, %.2f%% carry-over", n, percent(claimed, n), percent(carried, n))
				if claimed > most(n, 0.02) || carried > most(n, max(0.05, c.reported)) {
					t.Errorf("of %d experiments %d claim something and %d carry-over", n, claimed, carried)
				}
			})
		}
	}
}

// most is what a promise allows: exactly that of all runs, and chance more of fewer.
func most(n int, p float64) int {
	if n >= 10_000 {
		return int(p * float64(n))
	}
	return chance.Most(n, p)
}

// What CPU per request must differ by to be found, and when: 10% at 5% of noise between
// slices within 5 minutes in 90 of 100 experiments of two values. Latency is judged too, and
// one value alone differs.
func TestPower(t *testing.T) {
	for _, c := range []struct {
		values       int
		noise, times float64
		minutes      float64
		found        float64 // of all experiments, at least
	}{
		{2, 0.05, 0.9, 5, 0.9}, {2, 0.05, 1.1, 5, 0.9},
		{2, 0.03, 0.95, 30, 0.9}, {2, 0.05, 0.95, 30, 0.9}, {2, 0.05, 0.9, 30, 0.99}, {2, 0.05, 0.8, 30, 0.99},
		{2, 0.1, 0.9, 30, 0.9}, {2, 0.2, 0.9, 30, 0.2}, {2, 0.2, 0.8, 30, 0.9},
		{4, 0.05, 0.95, 30, 0.5}, {4, 0.05, 0.9, 30, 0.9}, {4, 0.1, 0.9, 30, 0.5},
	} {
		t.Run(fmt.Sprintf("%d values, %g%% of noise, times %g, %g min", c.values, 100*c.noise, c.times, c.minutes), func(t *testing.T) {
			t.Parallel()
			n, r := chance.RunsOf(20), rules(c.values)
			var after []float64 // minutes
			for seed := range n {
				w, p := world{r: rand.New(rand.NewPCG(uint64(seed), 3)), noise: c.noise, burnIn: 2}, newProof(r)
				for b := 0; ; b++ {
					block := w.block(b, r)
					if w.at > 60*c.minutes {
						break
					}
					for i := range block {
						if s := &block[i]; s.Value == 1 {
							s.times(cpu, c.times)
						}
					}
					p.add(block)
					if o := p.look().Values[0].Outcome; o != Open && o != Same {
						after = append(after, w.at/60)
						break
					}
				}
			}
			slices.Sort(after)
			minutes := func(share float64) string {
				if i := int(share * float64(n)); i < len(after) {
					return fmt.Sprintf("%.1f min", after[i])
				}
				return "-"
			}
			t.Logf("of %d: found in %.1f%%, the median after %s, 90%% after %s", n, percent(len(after), n), minutes(0.5), minutes(0.9))
			if len(after) < chance.Least(n, c.found) {
				t.Errorf("found in %d of %d experiments", len(after), n)
			}
		})
	}
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

// TestFalseAlarms: a query of values that do not differ ends at most one experiment in 100,
// with a look after each of 60 blocks.
func TestFalseAlarms(t *testing.T) {
	r, n := rules(3, "late", "errors"), chance.RunsOf(100)
	for _, c := range worlds {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ended := 0
			for seed := range n {
				w := c.world
				w.r, w.burnIn = rand.New(rand.NewPCG(uint64(seed), 9)), 2
				var list []Slice
				for b := range 60 {
					for _, s := range w.block(b, r) {
						s.Figures = append(s.Figures, s.Figures[p99], float64(w.r.IntN(3)/2))
						list = append(list, s)
					}
					if r.Harm(list) != nil {
						ended++
						break
					}
				}
			}
			t.Logf("of %d: %.2f%% end", n, percent(ended, n))
			if ended > most(n, falseAlarms) {
				t.Errorf("%d of %d experiments ended", ended, n)
			}
		})
	}
}

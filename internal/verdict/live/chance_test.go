package live

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/procfit/procfit/test/chance"
	"github.com/procfit/procfit/test/need"
)

// runs is how many of all are simulated: a tenth in the second tier and a hundredth in the
// first, which have many cells, and all with PROCFIT_FULL=1.
func runs(hundredth int) int {
	switch {
	case os.Getenv("PROCFIT_FULL") == "1":
		return 100 * hundredth
	case need.Full():
		return 10 * hundredth
	}
	return hundredth
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(of) }

// claims reports that a value is said to differ.
func claims(l Look) bool {
	for _, v := range l.Values {
		if v.Outcome != Open && v.Outcome != Same {
			return true
		}
	}
	return false
}

// Of values that do not differ nothing is claimed in 98 of 100 experiments of 60 blocks,
// with a look after each, whatever the traffic, and carry-over as rarely.
func TestAA(t *testing.T) {
	n := runs(100)
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
				if claimed > most(n, 0.02) || carried > most(n, max(0.02, c.reported)) {
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

// 10% of CPU per request, at 5% of noise between slices, is found within 5 minutes in 90 of
// 100 experiments of two values, of which latency is judged too.
func TestPower(t *testing.T) {
	n, r := runs(50), rules(2)
	for _, times := range []float64{0.9, 1.1} {
		found := 0
		for seed := range n {
			w, p := world{r: rand.New(rand.NewPCG(uint64(seed), 3)), noise: 0.05, burnIn: 2}, newProof(r)
			w.effect = func(value int) float64 { return float64(value) * math.Log(times) }
			for b := 0; ; b++ {
				block := w.block(b, r)
				if w.at > 300 {
					break
				}
				for i := range block { // latency has nothing of it
					block[i].P50, block[i].P99 = block[i].P50*math.Exp(-w.effect(block[i].Value)), block[i].P99*math.Exp(-w.effect(block[i].Value))
				}
				p.add(block)
				if claims(p.look()) {
					found++
					break
				}
			}
		}
		t.Logf("of %d: CPU times %g is found in %.1f%%", n, times, percent(found, n))
		if found < chance.Least(n, 0.9) {
			t.Errorf("CPU times %g is found in %d of %d experiments", times, found, n)
		}
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
	if random, fixed := claimed(false), claimed(true); random > chance.Most(n, 0.02) || fixed < 50 {
		t.Errorf("of %d experiments something is claimed in %d, with a fixed order in %d", n, random, fixed)
	}
}

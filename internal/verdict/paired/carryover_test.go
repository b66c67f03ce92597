package paired

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/procfit/procfit/internal/verdict/stat"
	"github.com/procfit/procfit/test/chance"
)

// fadesIn1s is what a switch upwards leaves: CPU per request that is e^0.3 of what it was,
// and fades within a second. It is the mean of a half of 2.5 s around now.
func fadesIn1s(w *world) float64 {
	return 0.3 * w.left * math.Exp(-(w.at - w.since)) * math.Sinh(1.25) / 1.25
}

// carried runs half an hour of values that differ in nothing but what a switch leaves. The
// experiment ends when that is reported, or claims before that something differs.
func carried(seed uint64, r Rules, burnIn float64, is func(*world) float64) (found, claimed bool) {
	w := world{r: rand.New(rand.NewPCG(seed, 1)), noise: 0.03, carried: is, burnIn: burnIn}
	p := newProof(r)
	for b := 0; w.at < 1800; b++ {
		p.add(w.block(b, r))
		l := p.look()
		if l.Carried {
			return true, claimed
		}
		claimed = claimed || claims(l)
	}
	return false, claimed
}

// What is left after the burn-in makes a value look better or worse than it is by this much.
// Of an effect that fades within a second, a slice of 5 s after a burn-in of 2 s has 13.5% at
// its begin, and 2.7% in the mean: that is why so little is reported.
func TestWhatIsLeft(t *testing.T) {
	for _, c := range []struct{ burnIn, least, most float64 }{{0.25, 0.030, 0.047}, {1, 0.014, 0.022}, {2, 0.005, 0.0082}} {
		f := newProof(rules(2)).values[0].figures[cpu]
		for seed := range uint64(50) {
			w := world{r: rand.New(rand.NewPCG(seed, 2)), noise: 0.03, carried: fadesIn1s, burnIn: c.burnIn}
			for b := range 100 {
				var of [2]float64
				for _, s := range w.block(b, rules(2)) {
					of[s.Value] = s.Figures[cpu]
				}
				f.add(of[1], of[0])
			}
		}
		bias := -stat.Mean(f.d)
		t.Logf("after a burn-in of %g s: %.2f%%", c.burnIn, 100*bias)
		if bias < c.least || bias > c.most {
			t.Errorf("after a burn-in of %g s the value looks better by %.4f", c.burnIn, bias)
		}
	}
}

// A burn-in that is too short is reported in 95 of 100 experiments.
func TestCarryOverIsReported(t *testing.T) {
	for _, c := range []struct {
		values       int
		burnIn       float64
		found, wrong float64 // of all experiments: at least, at most
	}{
		{2, 0.25, 0.95, 0.05}, {4, 0.25, 0.95, 0.05},
		{2, 1, 0.95, 0.08}, {4, 1, 0.95, 0.05},
		{2, 2, 0, 0.06}, {4, 2, 0, 0.05}, // little is left to find, or to be misled by
	} {
		t.Run(fmt.Sprintf("%d values, a burn-in of %g s", c.values, c.burnIn), func(t *testing.T) {
			t.Parallel()
			n := chance.RunsOf(50)
			found, misled := 0, 0
			for seed := range n {
				is, claimed := carried(uint64(seed), rules(c.values), c.burnIn, fadesIn1s)
				if is {
					found++
				}
				if claimed {
					misled++
				}
			}
			t.Logf("of %d: reported %.1f%%, claimed before %.1f%%", n, percent(found, n), percent(misled, n))
			if found < chance.Least(n, c.found) || misled > chance.Most(n, c.wrong) {
				t.Errorf("of %d experiments %d report carry-over, %d claim something before", n, found, misled)
			}
		})
	}
}

// What does not fade within a slice shows in slices after a smaller and after a larger
// value. Of two values each follows the other alone, so that it takes a third.
func TestCarryOverThatStays(t *testing.T) {
	n, found := chance.RunsOf(20), 0
	for seed := range n {
		is, _ := carried(uint64(seed), rules(4), 2, func(w *world) float64 { return 0.1 * w.left })
		if is {
			found++
		}
	}
	t.Logf("of %d: reported %.1f%%", n, percent(found, n))
	if found < chance.Least(n, 0.95) {
		t.Errorf("reported in %d of %d experiments", found, n)
	}
}

package paired

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/test/chance"
)

// TestForecast: when the baseline of an experiment says that a difference is found is true of
// half of the experiments: within a factor of 1.5 of one time, where it names one, and between
// two times where the range is wider.
func TestForecast(t *testing.T) {
	for _, c := range []struct {
		values int
		noise  float64
		level  func(*world) float64
	}{{2, 0.03, nil}, {2, 0.05, nil}, {2, 0.1, nil}, {2, 0.2, nil}, {4, 0.05, nil}, {2, 0.05, diurnal}} {
		t.Run(fmt.Sprintf("%d values, %g%% of noise, traffic that changes: %v", c.values, 100*c.noise, c.level != nil), func(t *testing.T) {
			t.Parallel()
			n, r := min(200, chance.RunsOf(20)), rules(c.values)
			block := time.Duration(c.values) * 7 * time.Second
			less := []float64{0.2, 0.1, 0.05}
			near, inside := make([]int, len(less)), make([]int, len(less))
			said, was := make([][]float64, len(less)), make([][]float64, len(less)) // minutes
			for seed := range n {
				random := rand.NewPCG(uint64(seed), 7)
				w := world{r: rand.New(random), noise: c.noise, level: c.level, procs: 2}
				var baseline []Slice
				for b := range 12 {
					baseline = append(baseline, w.slice(b, 0))
				}
				f := r.Forecast(baseline, int(time.Hour/block), block)
				w.burnIn = 2
				for i, less := range less {
					x := f.Expected[i]
					if math.Abs(f.Noise/c.noise-1) > 0.8 || x.Less != less || x.From > x.After && x.After > 0 || x.After > x.To && x.To > 0 {
						t.Errorf("%+v at %g%% of noise", f, 100*c.noise)
					}
					now, drawn := w, *random // the same experiment for each
					now.r = rand.New(&drawn)
					after := provenAfter(&now, r, less)
					if late := time.Duration(math.MaxInt64); after == 0 {
						after = late
					}
					if ratio := float64(x.After) / float64(after); ratio > 1/1.5 && ratio < 1.5 {
						near[i]++
					}
					from, to := float64(x.From)/1.2, 1.2*float64(x.To) // slices are longer and shorter by 20%
					if x.From > 0 && float64(after) >= from && (x.To == 0 || float64(after) <= to) || x.From == 0 && after > f.Within {
						inside[i]++
					}
					said[i], was[i] = append(said[i], x.After.Minutes()), append(was[i], after.Minutes())
				}
			}
			for i, less := range less {
				slices.Sort(said[i])
				slices.Sort(was[i])
				median := was[i][n/2]
				t.Logf("%g%% less, of %d: %.0f%% within a factor of 1.5, %.0f%% in the range; medians: %.1f min is said, %.1f min is so", 100*less, n, percent(near[i], n), percent(inside[i], n), said[i][n/2], median)
				if inside[i] < chance.Least(n, 0.5) || median < 6.5 && near[i] < chance.Least(n, 0.5) {
					t.Errorf("%g%% less: of %d experiments %d are within a factor of 1.5, and %d in the range", 100*less, n, near[i], inside[i])
				}
			}
		})
	}
}

// provenAfter is when an experiment proves that the first value takes so much less; 0: not in an
// hour.
func provenAfter(w *world, r Rules, less float64) time.Duration {
	p, from := newProof(r), w.at
	for b := 0; w.at-from < 3600; b++ {
		block := w.block(b, r)
		for i := range block {
			if block[i].Value == 1 {
				block[i].Figures[cpu] *= 1 - less
			}
		}
		p.add(block)
		if p.look().Values[0].Bounds[cpu].Outcome == verdict.OutcomeBetter {
			return time.Duration((w.at - from) * float64(time.Second))
		}
	}
	return 0
}

// TestNoForecast: without noise, or with too few slices to know it, there is none.
func TestNoForecast(t *testing.T) {
	of := func(list ...float64) (slices []Slice) {
		for _, x := range list {
			slices = append(slices, Slice{Figures: []float64{x}})
		}
		return slices
	}
	for name, list := range map[string][]Slice{
		"no slices": nil, "three slices": of(1, 1.1, 1), "no noise": of(1, 1, 1, 1), "no requests": of(math.Inf(1), math.Inf(1), math.NaN(), math.Inf(1), math.Inf(1)),
	} {
		if f := rules(2).Forecast(list, 10, time.Minute); f.Noise != 0 || f.Expected != nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

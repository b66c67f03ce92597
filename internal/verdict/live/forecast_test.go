package live

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
			n, h := min(200, chance.RunsOf(20)), header([]int{1, 3, 4}[:c.values-1]...)
			h.Load.DurationSeconds, h.Live.BaselineSeconds, h.Live.LatencyBy = 3660, 60, ByArrival
			for i, less := range []float64{0.2, 0.1, 0.05} {
				near, inside := 0, 0
				var said, was []float64 // minutes
				for seed := range n {
					w := world{r: rand.New(rand.NewPCG(uint64(seed), 7)), noise: c.noise, level: c.level}
					var baseline []Slice
					for b := range 12 {
						baseline = append(baseline, w.slice(Slice{Block: b, Procs: 2, Before: 2}))
					}
					f := h.Forecast(baseline)
					x := f.Expected[i]
					if math.Abs(f.Noise/c.noise-1) > 0.8 || x.Less != less || x.From > x.After && x.After > 0 || x.After > x.To && x.To > 0 {
						t.Errorf("%+v at %g%% of noise", f, 100*c.noise)
					}
					w.burnIn = 2
					after := provenAfter(&w, h, less)
					if late := time.Duration(math.MaxInt64); after == 0 {
						after = late
					}
					if ratio := float64(x.After) / float64(after); ratio > 1/1.5 && ratio < 1.5 {
						near++
					}
					from, to := float64(x.From)/1.2, 1.2*float64(x.To) // slices are longer and shorter by 20%
					if x.From > 0 && float64(after) >= from && (x.To == 0 || float64(after) <= to) || x.From == 0 && after > f.Within {
						inside++
					}
					said, was = append(said, x.After.Minutes()), append(was, after.Minutes())
				}
				slices.Sort(said)
				slices.Sort(was)
				median := was[n/2]
				t.Logf("%g%% less, of %d: %.0f%% within a factor of 1.5, %.0f%% in the range; medians: %.1f min is said, %.1f min is so", 100*less, n, percent(near, n), percent(inside, n), said[n/2], median)
				if inside < chance.Least(n, 0.5) || median < 6.5 && near < chance.Least(n, 0.5) {
					t.Errorf("%g%% less: of %d experiments %d are within a factor of 1.5, and %d in the range", 100*less, n, near, inside)
				}
			}
		})
	}
}

// provenAfter is when an experiment proves that the first value takes so much less; 0: not in an
// hour.
func provenAfter(w *world, h Header, less float64) time.Duration {
	p, from := newProof(h.Rules()), w.at
	for b := 0; w.at-from < 3600; b++ {
		block := w.block(b, h.Rules())
		for i := range block {
			if block[i].Value == 1 {
				block[i].CPU *= 1 - less
			}
		}
		p.add(block)
		if p.look().Values[0].Bounds[0].Outcome == verdict.OutcomeBetter {
			return seconds(w.at - from)
		}
	}
	return 0
}

// TestNoForecast: without noise, or with too few slices to know it, there is none.
func TestNoForecast(t *testing.T) {
	h := header(1)
	slice := Slice{Requests: 100, CPU: 1}
	for name, list := range map[string][]Slice{
		"no slices": nil, "three slices": {slice, {Requests: 100, CPU: 1.1}, slice}, "no noise": {slice, slice, slice, slice, slice},
		"no requests": {{CPU: 1}, {CPU: 2}, {CPU: 1}, {CPU: 2}, {CPU: 1}},
	} {
		if f := h.Forecast(list); f.Noise != 0 || f.Expected != nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

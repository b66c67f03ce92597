package live

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/verdict"
)

// Expected is when experiments have proven that a value takes so much less CPU time per
// request, in time of blocks: a quarter of them before From, half before After, and a quarter
// later than To. 0: not while there is time.
type Expected struct {
	Less            float64 // 0.1 is 10%
	From, After, To time.Duration
}

// Forecast is what the baseline's noise lets an experiment find.
type Forecast struct {
	Noise    float64       // of CPU time per request, from slice to slice; 0: too few slices to know
	Within   time.Duration // that is looked at
	Longer   bool          // the experiment may take longer than that
	Expected []Expected
}

const (
	forecastRuns = 101
	// mostForecast blocks are simulated: each takes longer than those before it.
	mostForecast = 300
	// A noise needs leastForecast slices.
	leastForecast = 4
)

// Forecast lets Judge's own machine decide about simulated blocks with the noise that the
// slices of the baseline have. Slices of a block are up to two slices apart, mostly, and
// what drifts from minute to minute is no noise.
func (h Header) Forecast(baseline []Slice) Forecast {
	cpu, square, n := h.Rules().figures()[0], 0.0, 0
	for apart := 1; apart <= 2; apart++ {
		for i := apart; i < len(baseline); i++ {
			if d := cpu.of(&baseline[i]) - cpu.of(&baseline[i-apart]); isFinite(d) {
				square, n = square+d*d, n+1
			}
		}
	}
	if len(baseline) < leastForecast || square == 0 {
		return Forecast{}
	}
	spread := math.Sqrt(square / float64(n))
	all := int(seconds(h.Load.DurationSeconds-h.Live.BaselineSeconds) / h.Block())
	blocks := min(mostForecast, all)
	f := Forecast{Noise: spread / math.Sqrt2, Within: time.Duration(blocks) * h.Block(), Longer: all > blocks}
	for _, less := range []float64{0.2, 0.1, 0.05} {
		after := h.proven(less, spread, len(baseline), blocks)
		at := func(share float64) time.Duration {
			if i := int(share * forecastRuns); i < len(after) {
				return time.Duration(after[i]) * h.Block()
			}
			return 0
		}
		f.Expected = append(f.Expected, Expected{less, at(0.25), at(0.5), at(0.75)})
	}
	return f
}

// proven is after how many blocks simulated experiments prove a difference, the first one
// first. The spread itself is known as well as so many slices let it be.
func (h Header) proven(less, spread float64, count, most int) (after []float64) {
	r, level := rand.New(rand.NewPCG(1, 1)), h.Rules().level()
	for range forecastRuns {
		f, drawn := h.Rules().figures()[0], 0.0
		for range count - 1 {
			x := r.NormFloat64()
			drawn += x * x / float64(count-1)
		}
		for n := 1; n <= most; n++ {
			f.add(math.Log1p(-less)+spread/math.Sqrt(drawn)*r.NormFloat64(), 0)
			if f.bound(level).Outcome == verdict.OutcomeBetter {
				after = append(after, float64(n))
				break
			}
		}
	}
	slices.Sort(after)
	return after
}

package paired

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/stat"
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
// slices of the baseline have in CPU time. all is how many blocks there is time for, and block
// how long one takes. Slices of a block are up to two slices apart, mostly, and what drifts
// from minute to minute is no noise.
func (r Rules) Forecast(baseline []Slice, all int, block time.Duration) Forecast {
	cpu, square, n := r.cpu(), 0.0, 0
	for apart := 1; apart <= 2; apart++ {
		for i := apart; i < len(baseline); i++ {
			if d := math.Log(baseline[i].Figures[cpu]) - math.Log(baseline[i-apart].Figures[cpu]); stat.Known(d) != nil {
				square, n = square+d*d, n+1
			}
		}
	}
	if len(baseline) < leastForecast || square == 0 {
		return Forecast{}
	}
	spread, blocks := math.Sqrt(square/float64(n)), min(mostForecast, all)
	f := Forecast{Noise: spread / math.Sqrt2, Within: time.Duration(blocks) * block, Longer: all > blocks}
	for _, less := range []float64{0.2, 0.1, 0.05} {
		after := r.proven(less, spread, len(baseline), blocks)
		at := func(share float64) time.Duration {
			if i := int(share * forecastRuns); i < len(after) {
				return time.Duration(after[i]) * block
			}
			return 0
		}
		f.Expected = append(f.Expected, Expected{less, at(0.25), at(0.5), at(0.75)})
	}
	return f
}

func (r Rules) cpu() int {
	return slices.IndexFunc(r.Metrics, func(m Metric) bool { return m.Name == FigureCPU })
}

// proven is after how many blocks simulated experiments prove a difference, the first one
// first. The spread itself is known as well as so many slices let it be.
func (r Rules) proven(less, spread float64, count, most int) (after []float64) {
	random, level := rand.New(rand.NewPCG(1, 1)), r.level()
	for range forecastRuns {
		f, drawn := &figure{Metric: r.Metrics[r.cpu()]}, 0.0
		for range count - 1 {
			x := random.NormFloat64()
			drawn += x * x / float64(count-1)
		}
		for n := 1; n <= most; n++ {
			f.add((1-less)*math.Exp(spread/math.Sqrt(drawn)*random.NormFloat64()), 1)
			if f.bounds(level, false).Outcome == verdict.OutcomeBetter {
				after = append(after, float64(n))
				break
			}
		}
	}
	slices.Sort(after)
	return after
}

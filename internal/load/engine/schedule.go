package engine

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/procfit/procfit/internal/load"
)

// even is how long after the first request that of a number comes at an even pace.
func (r *run) even(number int64) int64 { return int64(float64(number) * 1e9 / r.Rate) }

func (r *run) after(number int64) int64 {
	if r.times == nil {
		return r.even(number)
	}
	return r.times[min(number, int64(len(r.times))-1)]
}

func (r *run) drawTimes() {
	if r.Pace != load.PacePoisson {
		return
	}
	measured := int64(math.Ceil(r.Rate * r.Duration.Seconds()))
	random := rand.New(rand.NewPCG(r.Seed, uint64(r.settling)))
	boundary := r.even(r.settling)
	r.times = make([]int64, 0, r.settling+measured)
	r.times = arrivals(r.times, random, r.settling, 0, boundary)
	r.times = arrivals(r.times, random, measured, boundary, int64(r.Duration))
}

// carried is the pace at which answers came, see pace, taken against what was intended in the
// same thirds: at random there are more requests in one third of the time than in another, and
// of a few at an even pace, too. Else a server that keeps up would seem not to.
func (p *plan) carried(bins []int64, span, first time.Duration) float64 {
	wanted := make([]int64, len(bins))
	measured := int64(math.Ceil(p.Rate * p.Duration.Seconds()))
	if p.times == nil {
		var before int64
		for i := range wanted {
			until := min(measured, int64(math.Ceil(p.Rate*span.Seconds()*float64(i+1)/float64(len(bins)))))
			wanted[i], before = until-before, until
		}
	} else {
		settling := int64(len(p.times)) - measured
		boundary := int64(float64(settling) * 1e9 / p.Rate)
		for _, at := range p.times[settling:] {
			if i := int(float64(at-boundary) / float64(span) * float64(len(bins))); i < len(wanted) {
				wanted[i]++
			}
		}
	}
	offered := pace(wanted, span, 0, p.Duration)
	if offered < p.Rate/2 { // of a single request, or of a few that are badly placed, the thirds say nothing
		return p.Rate
	}
	return pace(bins, span, first, p.Duration) / offered * p.Rate
}

// arrivals adds n times at random within a span, in order: of a Poisson process that
// has n in it, the gaps are exponential and scaled to the span.
func arrivals(times []int64, random *rand.Rand, n, from, span int64) []int64 {
	sums := make([]float64, n)
	var sum float64
	for i := range sums {
		sum += random.ExpFloat64()
		sums[i] = sum
	}
	sum += random.ExpFloat64()
	for _, s := range sums {
		times = append(times, from+int64(s/sum*float64(span)))
	}
	return times
}

// pace is the rate at which answers came over a window of the duration that
// starts at the first possible answer: the mean of the running count over the
// window's last third, less that over its first, over the two thirds between.
// Answers ÷ duration would miss those under way at the end (3% at 100 ms and
// 3 s, a false saturation), and a count at one moment hangs on a stall at that
// moment; a mean over a third does not.
func pace(bins []int64, span, first, duration time.Duration) float64 {
	third := duration.Seconds() / 3
	begin := first.Seconds()
	mean := func(from float64) float64 { // of the running count over [from, from+third)
		var sum float64
		for i, n := range bins {
			at := (float64(i) + 0.5) * span.Seconds() / float64(len(bins))
			sum += float64(n) * min(1, max(0, (from+third-at)/third))
		}
		return sum
	}
	return (mean(begin+2*third) - mean(begin)) / (2 * third)
}

package sched

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
)

// Level is how high a quantity stood over N samples.
type Level struct {
	N    int64   `json:"n"`
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

// note adds a value to the level at l; nil stays nil until the first.
func note(l **Level, v float64) {
	if *l == nil {
		*l = &Level{Min: v, Max: v}
	}
	m := *l
	m.N++
	m.Mean += (v - m.Mean) / float64(m.N)
	m.Min, m.Max = min(m.Min, v), max(m.Max, v)
}

// noteCount adds a count, unless it is Absent.
func noteCount[T int | int64](l **Level, v T) {
	if v >= 0 {
		note(l, float64(v))
	}
}

// noteIf counts a sample if so is true. n stays nil until the first sample for which that is known.
func noteIf(n **int64, so bool) {
	if *n == nil {
		*n = new(int64)
	}
	if so {
		**n++
	}
}

// count is 0 for a level that was never noted.
func (l *Level) count() int64 {
	if l == nil {
		return 0
	}
	return l.N
}

// mean is 0 for a level that was never noted.
func (l *Level) mean() float64 {
	if l == nil {
		return 0
	}
	return l.Mean
}

// sum is of all samples: a P is in those alone in which GOMAXPROCS was high enough.
func (l *Level) sum() float64 { return l.mean() * float64(l.count()) }

// misplaced is how uneven queues are: the share of the queued goroutines that
// would have to be in another queue for all to be as long, Σ|xᵢ−x̄| / 2Σxᵢ, known
// as the Hoover index. It is 0 for equal queues and 1−1/n when one of n holds
// all. It has a meaning in goroutines, unlike a coefficient of variation, and
// takes all queues into account, unlike the longest over the mean.
//
// The sum must not be small against n: three goroutines in eight queues are
// uneven however they lie.
func misplaced(queues []float64) float64 {
	var sum, off float64
	for _, q := range queues {
		sum += q
	}
	if sum <= 0 {
		return 0
	}
	mean := sum / float64(len(queues))
	for _, q := range queues {
		off += math.Abs(q - mean)
	}
	return off / (2 * sum)
}

// minPerProc is how many goroutines a P the local queues must hold on average for
// one sample's unevenness to count. With arrivals at random, that of two a P is
// still about 0.27, of eight 0.14 (Poisson).
const minPerProc = 2

// misplaced is Misplaced of the sample's local queues, where enough is in them.
func (s *Sample) misplaced() (share float64, ok bool) {
	known := make([]float64, 0, 64)
	for _, q := range s.LocalQueues[:min(len(s.LocalQueues), maxTracked)] {
		if q >= 0 {
			known = append(known, float64(q))
		}
	}
	if len(known) < 2 || s.QueuedLocal() < minPerProc*int64(len(s.LocalQueues)) {
		return 0, false
	}
	return misplaced(known), true
}

// top is the fewest queues that hold a share of at least least of all, the longest
// first, with the share that they hold.
func top(queues []float64, least float64) (ids []int, share float64) {
	var sum, held float64
	for i, q := range queues {
		sum += q
		ids = append(ids, i)
	}
	if sum <= 0 {
		return nil, 0
	}
	sorting.Stable(ids, func(a, b int) int { return cmp.Compare(queues[b], queues[a]) })
	for n, i := range ids {
		if held += queues[i]; held >= least*sum {
			ids = ids[:n+1]
			break
		}
	}
	slices.Sort(ids)
	return ids, held / sum
}

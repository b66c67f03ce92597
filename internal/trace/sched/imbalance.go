package sched

import (
	"cmp"
	"math"
	"slices"
)

// Misplaced is how uneven queues are: the share of the queued goroutines that
// would have to be in another queue for all to be as long, Σ|xᵢ−x̄| / 2Σxᵢ, known
// as the Hoover index. It is 0 for equal queues and 1−1/n when one of n holds
// all. It has a meaning in goroutines, unlike a coefficient of variation, and
// takes all queues into account, unlike the longest over the mean.
//
// The sum must not be small against n: three goroutines in eight queues are
// uneven however they lie.
func Misplaced(queues []float64) float64 {
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
	return Misplaced(known), true
}

// Top is the fewest queues that hold a share of at least least of all, the longest
// first, with the share that they hold.
func Top(queues []float64, least float64) (ids []int, share float64) {
	var sum, held float64
	for i, q := range queues {
		sum += q
		ids = append(ids, i)
	}
	if sum <= 0 {
		return nil, 0
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(queues[b], queues[a]) })
	for n, i := range ids {
		if held += queues[i]; held >= least*sum {
			ids = ids[:n+1]
			break
		}
	}
	slices.Sort(ids)
	return ids, held / sum
}

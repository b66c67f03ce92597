package live

import (
	"math"
	"slices"
	"sort"
)

// stakes are what signs bets on a difference's sign by the rank of its size, each a third
// of the wealth: tanh(stake × rank). That is the best bet on normal differences whose mean
// is so large, against their scatter, that the stake follows from it.
var stakes = [...]float64{1, 2, 4}

// mostStaked is the most of the wealth that is bet: one outlier must not ruin it.
const mostStaked = 0.97

// signs is an e-process: the wealth of somebody who bets on the sign of each difference,
// knowing its size and all before. As long as either sign is as likely, a fair coin, the
// wealth is 1 in the mean at all times, and ever reaches 1/alpha with a probability of alpha
// at most, whenever one looks. It grows where the differences lie to one side.
//
// Nothing else is assumed: neither normal nor independent differences, nor that their
// scatter stays as it is.
type signs struct {
	sizes        []float64 // of the differences so far, sorted
	above, below [len(stakes)]float64
}

// add takes the next difference.
func (s *signs) add(d float64) {
	if s.sizes == nil {
		for i := range stakes {
			s.above[i], s.below[i] = 1, 1
		}
	}
	size := math.Abs(d)
	at := sort.Search(len(s.sizes), func(i int) bool { return s.sizes[i] > size })
	s.sizes = slices.Insert(s.sizes, at, size)
	if d == 0 {
		return
	}
	rank := float64(at+1) / float64(len(s.sizes))
	for i, stake := range stakes {
		bet := math.Copysign(mostStaked*math.Tanh(stake*rank), d)
		s.above[i] *= 1 + bet
		s.below[i] *= 1 - bet
	}
}

// isAbove reports, at the level alpha, that the differences lie above zero.
func (s *signs) isAbove(alpha float64) bool { return reaches(s.above, alpha) }

// isBelow reports that they lie below.
func (s *signs) isBelow(alpha float64) bool { return reaches(s.below, alpha) }

func reaches(wealth [len(stakes)]float64, alpha float64) bool {
	sum := 0.0
	for _, w := range wealth {
		sum += w
	}
	return sum >= float64(len(stakes))/alpha
}

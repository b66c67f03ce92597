// Package eprocess tests by signs, at any time and as often as one likes.
//
// # Model
//
// An e-process is the wealth of somebody who bets against a claim. While the claim holds, the
// wealth is 1 in the mean at all times, and reaches 1/alpha with a probability of at most
// alpha, whenever one looks (Ville's inequality). [Signs] bets that differences lie to one
// side of zero.
//
// # Limits
//
// The claim is that each sign is as likely as the other, given all before. Values that stay to
// one side for long, as of a slowly changing machine, break it: leave a margin for
// those.
package eprocess

import (
	"math"
	"slices"
	"sort"
)

// stakes are what is bet on a difference's sign by the rank of its size, each a third of the
// wealth: tanh(stake × rank). That is the best bet on normal differences whose mean is so
// large, against their scatter, that the stake follows from it.
var stakes = [...]float64{1, 2, 4}

// mostStaked is the most of the wealth that is bet: one outlier must not ruin it.
const mostStaked = 0.97

// wealth is what each stake has come to, of who bets on one side.
type wealth [len(stakes)]float64

// parts are what each stake bets of its wealth on a difference whose size has this rank,
// from 0 to 1.
func parts(rank float64) (list wealth) {
	for i, stake := range stakes {
		list[i] = mostStaked * math.Tanh(stake*rank)
	}
	return list
}

// bet is after a difference that fell on the side or, with a side of -1, on the other.
func (w *wealth) bet(parts wealth, side float64) {
	for i, part := range parts {
		w[i] *= 1 + side*part
	}
}

func (w *wealth) mean() float64 {
	sum := 0.0
	for _, x := range w {
		sum += x
	}
	return sum / float64(len(w))
}

// Signs bets on the sign of each difference, knowing its size and all before. As long as
// either sign is as likely, a fair coin, neither IsAbove nor IsBelow is ever true with a
// probability above alpha.
//
// Nothing else is assumed: neither normal nor independent differences, nor that their
// scatter stays as it is.
type Signs struct {
	// BySize has each difference bet by its share of the largest so far, where that is more than
	// its rank: of differences that are all about as large, ranks are chance, and bet too little.
	BySize bool

	sizes        []float64 // of the differences so far, sorted
	above, below wealth
}

// Add takes the next difference. It ignores what is not a number.
func (s *Signs) Add(d float64) {
	if math.IsNaN(d) {
		return
	}
	if s.sizes == nil {
		s.above, s.below = wealth{1, 1, 1}, wealth{1, 1, 1}
	}
	size := math.Abs(d)
	at := sort.Search(len(s.sizes), func(i int) bool { return s.sizes[i] > size })
	s.sizes = slices.Insert(s.sizes, at, size)
	if d == 0 {
		return
	}
	rank := float64(at+1) / float64(len(s.sizes))
	if largest := s.sizes[len(s.sizes)-1]; s.BySize && !math.IsInf(largest, 1) {
		rank = max(rank, size/largest)
	}
	side, parts := math.Copysign(1, d), parts(rank)
	s.above.bet(parts, side)
	s.below.bet(parts, -side)
}

// IsAbove reports, at the level alpha, that the differences lie above zero.
func (s *Signs) IsAbove(alpha float64) bool { return s.above.mean() >= 1/alpha }

// IsBelow reports that they lie below.
func (s *Signs) IsBelow(alpha float64) bool { return s.below.mean() >= 1/alpha }

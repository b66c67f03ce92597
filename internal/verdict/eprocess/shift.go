package eprocess

import "math"

const (
	// dead is a wealth that does not come back within a month.
	dead = 1e-12
	// mostSizes is of how many differences the size is remembered, the first ones.
	mostSizes = 1000
)

// Shift finds that differences lie above zero from some time on. With each difference one
// more bettor begins, with an equal part of the wealth: whoever began before the shift has
// lost too much to show it. As long as either sign is as likely, given all before, Found is
// true within Starts differences with a probability of at most alpha.
type Shift struct {
	Starts int // over which the part of the wealth of each is one

	sizes   sizes
	bettors []wealth
}

// Add takes the next difference. It ignores what is not a number.
func (s *Shift) Add(d float64) {
	if math.IsNaN(d) {
		return
	}
	rank := s.sizes.add(math.Abs(d))
	if len(s.sizes) > mostSizes {
		s.sizes.drop(math.Abs(d))
	}
	s.bettors = append(s.bettors, begun)
	left, parts := s.bettors[:0], parts(rank)
	for _, b := range s.bettors {
		if d != 0 {
			b.bet(parts, math.Copysign(1, d))
		}
		if b.mean() > dead {
			left = append(left, b)
		}
	}
	s.bettors = left
}

// Found reports, at the level alpha, that the differences lie above zero.
func (s *Shift) Found(alpha float64) bool {
	sum := 0.0
	for _, b := range s.bettors {
		sum += b.mean()
	}
	return sum >= float64(s.Starts)/alpha
}

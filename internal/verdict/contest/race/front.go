package race

import "math"

// price is how many trials a smaller value is worth, for each e-fold of Ps: to halve
// them 83, from 12 to 11 ten.
const price = 120

// left is how many trials the race may still take.
func (s *Race) left() float64 { return float64(s.rules.Limit() - len(s.trials)) }

// weigh finds the front of a race until proven: the value whose proof costs least,
// the price of its Ps included. What is below is dropped.
func (s *Race) weigh() {
	s.looks = map[int]outlook{}
	best := math.Inf(1)
	for _, n := range s.named {
		if s.pick != 0 && n > s.pick {
			break
		}
		o := s.outlook(n)
		if n == s.pick {
			o.cost = 0
		}
		s.looks[n] = o
		v := o.cost + price*math.Log(float64(n))
		if o.cost > s.left() {
			v += beyond
		}
		if v < best {
			s.front, best = n, v
		}
	}
	if s.front == 0 {
		s.front = s.leastWrong()
	}
	for _, n := range s.named {
		s.dropped[n] = n < s.front
	}
}

// beyond puts a proof that the trials left do not reach behind all that they do.
const beyond = 1e6

// out of reach is a proof that would take this much more than is left: estimates of
// what it costs are rough.
const outOfReach = 1.3

// futile says whether no value could be proven with the trials left, while one is
// likely.
func (s *Race) futile() bool {
	if s.rules.Goal == Likely || s.pick != 0 || s.likely == 0 {
		return false
	}
	for _, o := range s.looks {
		if o.cost <= outOfReach*s.left() {
			return false
		}
	}
	return true
}

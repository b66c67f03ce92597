package race

import (
	"math"
	"slices"
)

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

// futile reports whether no value could be proven with the trials left, while one is
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

// barred reports whether no value can be named however many trials there are: for each there is one
// that did not meet the objective, and whose bound is above it.
func (s *Race) barred() bool {
	open := func(n int) bool {
		return s.model.throughput.trials(n) < Enough || !slices.ContainsFunc(s.rivals, func(j int) bool { return s.misses(j) && s.never(n, j) })
	}
	return s.pick == 0 && len(s.named) > 0 && !slices.ContainsFunc(s.named, open)
}

// Trade-offs are looked for among values that are out, where the loss of throughput
// is up to tradeLoss and p99 at most tradeShare of the pick's. Such a value has few
// trials: it gets three more next to the pick.
const (
	tradeLoss   = 0.3
	tradeShare  = 0.5
	tradeTrials = 4
)

// probe is a value that may make the pick a trade-off and has too few trials to tell;
// 0 when there is none.
func (s *Race) probe() int {
	if !s.rules.Latency || !s.model.p99.has(s.pick) {
		return 0
	}
	for _, n := range s.values {
		if !s.out[n] || !s.byLatency(n) || s.model.p99.trials(n) >= tradeTrials {
			continue
		}
		loss, _ := s.model.throughput.difference(n, s.pick)
		gain, _ := s.model.p99.difference(n, s.pick)
		if loss > math.Log1p(-tradeLoss) && gain < math.Log(tradeShare) {
			return n
		}
	}
	return 0
}

// trade is the smallest value that is out whose p99 is proven better than the pick's,
// by a ratio beyond what its throughput can be worse by; both bounds are of 97.5%.
func (s *Race) trade(pick int) int {
	if pick == 0 || !s.rules.Latency || !s.model.p99.has(pick) {
		return 0
	}
	const each = (1 + confidence) / 2
	for _, n := range s.values {
		if !s.out[n] || !s.byLatency(n) || s.model.p99.trials(n) < Enough {
			continue
		}
		gain := -s.model.p99.upper(n, pick, each)
		loss := -s.model.throughput.lower(n, pick, each)
		if gain > s.rules.margin(P99) && gain > loss {
			return n
		}
	}
	return 0
}

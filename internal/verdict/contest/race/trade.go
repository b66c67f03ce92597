package race

import "math"

// Trade-offs are looked for among values that are out, where the loss of throughput
// is up to tradeLoss and p99 at most tradeShare of the pick's. Such a value has few
// trials: it gets three more beside the pick.
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
		if !s.out[n] || !s.byLatency(n) || s.model.p99.trials(n) < enough {
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

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

// outlook is what it would take to prove one value.
type outlook struct {
	cost float64         // trials more, as things look; infinite when it looks worse
	want map[int]float64 // trials of each rival, in all
}

type need struct {
	rival    int
	by       Figure
	variance float64 // that the difference may have, at most
}

// mostExtra trials of the value itself are thought of.
const mostExtra = 60

// outlook of n: the trials of it, and of each rival, that leave the fewest in all.
func (s *Race) outlook(n int) outlook {
	best := outlook{cost: math.Inf(1), want: map[int]float64{}}
	needs, ok := s.needs(n)
	if !ok {
		return best
	}
	have := s.model.throughput.trials(n)
	for extra := range mostExtra {
		o := outlook{cost: float64(extra), want: map[int]float64{}}
		for _, x := range needs {
			f := s.model.of(x.by)
			rest := x.variance/(f.sigma*f.sigma) - f.scale[f.index[n]]/float64(have+extra)
			if rest <= 0 {
				o.cost = math.Inf(1)
				break
			}
			o.want[x.rival] = max(o.want[x.rival], f.scale[f.index[x.rival]]/rest)
			if s.alone(n, x.rival, x.by) { // that is not to decide
				o.want[x.rival] = max(o.want[x.rival], float64(f.trials(x.rival)+1))
			}
		}
		for _, j := range s.rivals {
			// A third of a trial short is not worth one.
			o.cost += max(0, math.Ceil(o.want[j]-0.3)-float64(s.model.throughput.trials(j)))
		}
		if o.cost < best.cost {
			best = o
		}
	}
	return best
}

// needs of n against every rival; false when it looks worse than one.
func (s *Race) needs(n int) ([]need, bool) {
	var out []need
	for _, j := range s.rivals {
		for _, by := range []Figure{Throughput, P99} {
			if j == n || by == P99 && !(s.byLatency(j) && s.model.p99.has(n)) {
				continue
			}
			v, ok := s.target(n, j, by)
			if !ok {
				return nil, false
			}
			out = append(out, need{j, by, v})
		}
	}
	return out, true
}

// How far, in standard errors, a difference is taken to be better than it looks: a
// value that had bad luck in its first trials is to have more of them.
const (
	hopeFast   = 1.0
	hopePrompt = 0.7 // it is pooled already
)

// target is the variance that the difference of n and j has to come down to for a
// proof. What more trials will show is reported better by the pooled model, where there
// is one: the difference d goes to d' = expect + (d-expect)·y², y being the ratio of
// the standard errors then and now, and d' + q·se·y = margin is solved for y.
func (s *Race) target(n, j int, by Figure) (variance float64, ok bool) {
	f := s.model.of(by)
	worse, se := f.difference(n, j)
	expect, hope := worse, hopePrompt*se
	if by == P99 {
		if pooled, known := s.smooth[j]; known { // a rival that failed too often to be named has none
			expect = s.smooth[n] - pooled
		}
	} else {
		worse = -worse
		expect, hope = worse, hopeFast*se
	}
	expect -= hope
	a, b, c := worse-expect, f.quantile(confidence)*se, expect-s.rules.margin(by)
	if c >= 0 {
		return 0, false
	}
	y := 1.0
	switch root := b*b - 4*a*c; {
	case a+b+c < 0: // it is proven already
	case root < 0:
		return 0, false
	case math.Abs(a) < 1e-9:
		y = -c / b
	default:
		y = 2 * -c / (b + math.Sqrt(root)) // the root that is 0 where nothing is left of the margin
	}
	if y <= 0 || y > 1 {
		return 0, false
	}
	return se * se * y * y, true
}

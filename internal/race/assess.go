package race

import "math"

// Assess is what stands after these trials, of a race or of a grid alike.
func Assess(r Rules, trials []Trial) Assessment { return stand(r, trials).assess() }

func (s *standing) assess() Assessment {
	a := Assessment{Model: s.model, Peak: s.top, Copies: copiesOf(s.rules, s.trials)}
	if s.top == 0 {
		a.Levels = s.levels(0)
		return a
	}
	a.Pick = s.final()
	if a.Copies.Apart {
		a.Pick = 0
	}
	if c := s.chance[a.Pick]; a.Pick != 0 {
		a.Confidence, a.Probability = Likely, 1-c.wrong()
		if c.proven() {
			a.Confidence = Proven
		}
	}
	f := s.model.throughput
	a.Spread = Spread{Throughput: cv(f.sigma), DF: f.df}
	if s.model.p99 != nil {
		a.Spread.P99 = cv(s.model.p99.sigma)
	}
	for _, n := range s.values {
		if n == s.top || s.model.asGood(n, s.top, Throughput, s.rules.margin(Throughput)) {
			a.Equal = append(a.Equal, n)
		}
	}
	a.BestP99 = s.shortest()
	a.Levels = s.levels(a.BestP99)
	a.Open = s.open(a)
	a.Trade = s.trade(a.Pick)
	return a
}

// final is the value that is named if nothing more is measured.
func (s *standing) final() int {
	if s.rules.Goal == Likely || s.proven == 0 {
		return s.likely
	}
	return s.proven
}

// cv is a standard deviation of logarithms as a coefficient of variation.
func cv(sd float64) float64 { return math.Sqrt(math.Expm1(sd * sd)) }

// shortest is the value of the shortest p99 that is not out, with half a standard
// error for luck.
func (s *standing) shortest() int {
	best, least := 0, math.Inf(1)
	for _, n := range s.rivals {
		if !s.byLatency(n) {
			continue
		}
		if mean, se := s.model.p99.level(n); mean+se/2 < least {
			best, least = n, mean+se/2
		}
	}
	return best
}

// Trade-offs are looked for among values that lose up to this much throughput, with
// a p99 of at most that share of the pick's.
const (
	tradeLoss  = 0.3
	tradeShare = 0.5
)

// mayTrade lists the values that are out though their p99 seems far better.
func (s *standing) mayTrade(pick int) []int {
	if !s.rules.Latency || !s.model.p99.has(pick) {
		return nil
	}
	var out []int
	for _, n := range s.values {
		if !s.out[n] || !s.byLatency(n) {
			continue
		}
		loss, _ := s.model.throughput.difference(n, pick)
		gain, _ := s.model.p99.difference(n, pick)
		if loss > math.Log1p(-tradeLoss) && gain < math.Log(tradeShare) {
			out = append(out, n)
		}
	}
	return out
}

// trade is the first value whose p99 is proven better than the pick's by a ratio
// beyond what its throughput can be worse by; both are bounded at 97.5 %.
func (s *standing) trade(pick int) int {
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

// copiesLevel is high since it is looked at after each block.
const copiesLevel = 0.995

// copiesOf compares the default as unset with its number.
func copiesOf(r Rules, trials []Trial) Copies {
	f := newFit(samplesOf(trials, Throughput, byCopy), priorOf(Throughput))
	if r.Default == 0 || f.trials(r.Default) < 2 || f.trials(-r.Default) < 2 {
		return Copies{}
	}
	d, se := f.difference(-r.Default, r.Default)
	wide := f.quantile((1+confidence)/2) * se
	apart := math.Abs(d) > f.quantile(1-(1-copiesLevel)/2)*se && f.trials(r.Default) >= enough && f.trials(-r.Default) >= enough
	return Copies{Ratio: math.Exp(d), Low: math.Exp(d - wide), High: math.Exp(d + wide), Apart: apart}
}

package race

import "math"

// Lead is which value is best so far, and what is proven.
func (s *Race) Lead() Lead {
	a := Lead{Model: s.model, Peak: s.top, Copies: copiesOf(s.rules, s.trials)}
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
	a.Default = s.ofDefault()
	a.Levels = s.levels(a.BestP99)
	a.Open = s.open(a)
	a.Trade = s.trade(a.Pick)
	return a
}

// likelier is how much smaller a likely value must be to be named before a proven one.
const likelier = 0.8

// final is the value that is named if nothing more is measured.
func (s *Race) final() int {
	if s.rules.Goal == Likely || s.proven == 0 || s.likely != 0 && float64(s.likely) < likelier*float64(s.proven) {
		return s.likely
	}
	return s.proven
}

// cv is a standard deviation of logarithms as a coefficient of variation, kept within
// what a number holds.
func cv(sd float64) float64 { return math.Sqrt(math.Expm1(min(sd*sd, 700))) }

// shortest is the value of the shortest p99 that is not out, with half a standard
// error for luck.
func (s *Race) shortest() int {
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

// That unset and its number differ, when the program runs with the same value, is asked
// after each block, of trials that are hardly ever of one block, on machines that drift:
// a real sweep of two equal ones had a difference of 14% after three trials each, at
// 99.5%. The rare program that reads the variable itself differs by more.
const copiesLevel = 0.9999

// copiesOf compares the default as unset with its number.
func copiesOf(r Rules, trials []Trial) Copies {
	unset, number := 0, 0
	for _, t := range trials {
		if t.Value == r.Default && t.Unset {
			unset++
		} else if t.Value == r.Default {
			number++
		}
	}
	if unset < 2 || number < 2 {
		return Copies{}
	}
	f := newFit(samplesOf(trials, Throughput, byCopy), priorOf(Throughput))
	if r.Default == 0 || f.trials(r.Default) < 2 || f.trials(-r.Default) < 2 {
		return Copies{}
	}
	d, se := f.difference(-r.Default, r.Default)
	wide := f.quantile((1+confidence)/2) * se
	apart := math.Abs(d) > f.quantile(1-(1-copiesLevel)/2)*se && f.trials(r.Default) >= enough && f.trials(-r.Default) >= enough
	return Copies{Ratio: math.Exp(d), Low: math.Exp(d - wide), High: math.Exp(d + wide), Apart: apart}
}

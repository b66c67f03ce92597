package race

import (
	"math"
	"math/rand/v2"
	"slices"
)

// ofDefault is how sure it is that the default is as good as any; empty: that is open.
func (s *Race) ofDefault() Goal {
	i := slices.Index(s.named, s.rules.Default)
	if i < 0 || s.model.throughput.trials(s.rules.Default) < Enough {
		return ""
	}
	c := s.chance[s.rules.Default]
	if !c.proven() && !c.likely { // chances did not look at it, or found it unlikely
		r := rand.New(rand.NewPCG(uint64(len(s.trials)), 11))
		var prompt [][]float64
		if s.rules.Latency {
			prompt = s.model.p99.curve(s.named, draws, r)
		}
		slow, late := s.draw(i, prompt, r)
		c.likely = s.probable(s.rules.Default, slow, late) && s.harmless(s.rules.Default)
	}
	switch {
	case c.proven():
		return Proven
	case c.likely:
		return Likely
	}
	return ""
}

// moves reports whether some value is proven worse than another: only then the number of Ps
// is shown to matter.
func (s *Race) moves() bool {
	best := s.shortest()
	return s.rules.Moves || slices.ContainsFunc(s.values, func(n int) bool {
		return s.out[n] || s.slower(n) || best != 0 && s.model.p99.has(n) && s.later(n, best)
	})
}

// undecided is a value that may be as good as the pick or worse, where nothing is proven
// worse: while that is open nobody knows whether the number of Ps matters. It is the
// default, against which a change would be advised; without one, the value for which it
// costs least to tell. Against is what most keeps that open. 0: nothing is open, or more
// trials would be needed than are left.
func (s *Race) undecided() (n, against int) {
	standard := s.rules.Default
	if s.rules.Goal == Likely || standard == s.pick || s.moves() {
		return 0, 0
	}
	least := s.left()
	for _, j := range s.rivals {
		if j == s.pick || standard != 0 && j != standard {
			continue
		}
		if rival, cost := s.toTell(j); rival != 0 && cost <= least {
			n, against, least = j, rival, cost
		}
	}
	return n, against
}

// toTell is how many trials it takes to tell whether a value is as good as the pick, or
// the default as good as any, and the rival that takes most of them; 0: it is proven.
func (s *Race) toTell(n int) (against int, cost float64) {
	for _, j := range s.rivals {
		if j == n || j != s.pick && n != s.rules.Default {
			continue
		}
		for _, by := range []Figure{Throughput, P99} {
			if by == P99 && !(s.byLatency(j) && s.model.p99.has(n)) || s.model.asGood(n, j, by, s.rules.margin(by)) {
				continue
			}
			trials := float64(s.comparison(n, j, by).Trials)
			if trials == 0 { // more than can be asked
				trials = math.Inf(1)
			}
			if trials > cost {
				against, cost = j, trials
			}
		}
	}
	return against, cost
}

package race

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// draws of the pooled models: a chance of 3% comes out within 1%.
const draws = 400

// chances computes each value's chance of being wrong, until two are found likely:
// larger ones are not needed.
func (s *Race) chances() {
	r := rand.New(rand.NewPCG(uint64(len(s.trials)), 7))
	var prompt [][]float64
	if s.rules.Latency && len(s.named) > 0 {
		prompt = s.model.p99.curve(s.named, draws, r)
	}
	for i, n := range s.named {
		for _, p := range prompt {
			s.smooth[n] += p[i] / float64(len(prompt))
		}
	}
	found := 0
	for i, n := range s.named {
		c := chance{throughput: 0.25, p99: 0.25}
		if found < 2 {
			c.throughput, c.p99 = s.draw(i, prompt, r)
			c.likely = s.probable(n, c.throughput, c.p99) && s.harmless(n)
		}
		if c.likely {
			found++
		}
		c.proven = s.prove(n)
		s.chance[n] = c
	}
}

// draw is how often, by the pooled models, the i-th value loses more throughput than
// the margin, and how often its p99 is longer by more than that of the best whose
// throughput is as good.
func (s *Race) draw(i int, prompt [][]float64, r *rand.Rand) (throughput, p99 float64) {
	fast := s.model.throughput.rivals(s.named, i, draws, r)
	marginT, marginP := s.rules.margin(Throughput), s.rules.margin(P99)
	for k := range fast {
		best := slices.Max(fast[k])
		if fast[k][i] < best-marginT {
			throughput += 1 / float64(len(fast))
			continue
		}
		if prompt == nil {
			continue
		}
		least := math.Inf(1)
		for m, n := range s.named {
			if fast[k][m] >= best-marginT && s.byLatency(n) {
				least = min(least, prompt[k][m])
			}
		}
		if prompt[k][i] > least+marginP {
			p99 += 1 / float64(len(fast))
		}
	}
	return throughput, p99
}

// What a likely value may be wrong by: in one of N cases by the pooled model.
const (
	mostSlow = 0.03 // by its throughput
	mostLate = 0.10 // by its p99
)

// probable reports whether a value with these chances of being wrong is good by the
// pooled models.
func (s *Race) probable(n int, slow, late float64) bool {
	return slow <= mostSlow && late <= mostLate && !s.aboveBound(n)
}

// wrong is the chance, bounded so that what meets the goal is below what does not.
func (s *Race) wrong(n int) float64 {
	w := s.chance[n].wrong()
	if s.rules.Goal == Likely {
		if s.chance[n].likely {
			return min(w, mostLate)
		}
		return max(w, mostLate+1e-6)
	}
	if s.chance[n].proven {
		return 0
	}
	return max(w, mostLate+1e-6)
}

// giveUp is how a race until likely finds its front. It drops values below the pick that more trials will hardly show to be good,
// the sooner the less there is to gain. Each assessment does it again.
func (s *Race) giveUp() {
	f := s.model.throughput
	for k, n := range s.named {
		if s.pick != 0 && n >= s.pick {
			break
		}
		above := cmp.Or(s.pick, s.named[min(k+1, len(s.named)-1)])
		limit, fast, prompt := 0.5, 7, 14
		if float64(above-n) > max(1, 0.12*float64(above)) {
			limit, fast, prompt = .9, fast+4, prompt+4
		}
		count, w, c := f.trials(n), s.wrong(n), s.chance[n]
		s.dropped[n] = count >= 3 && w >= limit || count >= 2 && w >= .95 ||
			count >= prompt && !c.likely || count >= fast && c.throughput > mostSlow
	}
	s.front = s.leastWrong()
	if i := slices.IndexFunc(s.named, func(n int) bool { return !s.dropped[n] }); i >= 0 {
		s.front = s.named[i]
	}
}

// leastWrong is the value that is least probably wrong; 0 when none may be named.
func (s *Race) leastWrong() int {
	best, least := 0, 3.0
	for _, n := range s.named {
		if w := s.wrong(n); w < least-1e-9 {
			best, least = n, w
		}
	}
	return best
}

// Harm is a loss of more than a tenth of the throughput, or a p99 that is longer by more
// than 40%, as logarithms. A likely value must be shown to do none by its own trials, at
// this level against each rival: the pooled models, which take neighbors as similar, have
// named values that did.
const (
	harmThroughput = 0.105
	harmP99        = 0.336
	harmLevel      = 0.95
)

func (s *Race) harmless(n int) bool {
	if s.rules.without == ruleHarm {
		return true
	}
	fast, prompt := s.model.throughput, s.model.p99
	return !slices.ContainsFunc(s.rivals, func(j int) bool {
		return j != n && (fast.lower(n, j, harmLevel) < -max(harmThroughput, s.rules.margin(Throughput)) ||
			s.byLatency(j) && prompt.has(n) && prompt.upper(n, j, harmLevel) > max(harmP99, s.rules.margin(P99)))
	})
}

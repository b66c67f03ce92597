package race

import (
	"math"
	"math/rand/v2"
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
	if prompt != nil {
		for i, n := range s.named {
			for _, p := range prompt {
				s.smooth[n] += p[i] / float64(len(prompt))
			}
		}
	}
	found := 0
	for i, n := range s.named {
		c := chance{throughput: 0.25, p99: 0.25}
		if found < 2 {
			c.throughput, c.p99 = s.draw(i, prompt, r)
			c.likely = c.throughput <= mostSlow && c.p99 <= mostLate && !s.aboveBound(n)
		}
		if c.likely {
			found++
		}
		c.asFast, c.asPrompt = s.prove(n)
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
		best := math.Inf(-1)
		for _, x := range fast[k] {
			best = max(best, x)
		}
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

package race_test

import (
	"math"
	"math/rand/v2"

	"github.com/procfit/procfit/internal/verdict/contest/race"
)

// start is one of the program, in which values are set while it runs.
type start struct {
	*bench
	own  []float64 // what this start does to each value
	last int       // the value before
}

// What slices have and trials do not: a start differs from others, a slice has something of
// the value before it, and a collection may be longer than a slice.
const (
	startShare = 0.5 // of a trial's noise that is the start's own
	carried    = 0.1 // of the value before it, in the next slice
	collecting = 0.1 // of slices that a long collection falls into
)

func (b *bench) start() *start {
	s := &start{bench: b, own: make([]float64, b.curve.K+1)}
	for n := range s.own {
		s.own[n] = startShare * b.noise.T * b.scale[n] * b.r.NormFloat64()
	}
	return s
}

// slice measures a value's throughput.
func (s *start) slice(n, block int) race.Trial {
	walk := s.walk
	t := s.run(race.Choice{Value: n}, block)
	s.walk = walk + 0.3*(s.walk-walk) // it is shorter
	d := s.own[n]
	if s.last > 0 {
		d += carried * (s.curve.Throughput[s.last] - s.curve.Throughput[n])
	}
	if s.r.Float64() < collecting {
		d += math.Log(0.8)
	}
	s.last = n
	t.Throughput *= math.Exp(d)
	t.P99, t.Saturated = 0, false
	return t
}

// Sliced is Race after slices of one start, which choose its values. Where its trials are proven
// to differ from these, all values are raced.
func Sliced(c Curve, n Noise, rules race.Rules, r *rand.Rand) Run {
	b := newBench(c, n, r)
	slicing := b.slices(rules)
	kept, all := slicing.Narrow(rules), rules
	all.MaxTrials = rules.Limit()
	back := false
	run := b.race(Run{Curve: c, Kept: len(kept.First)}, func(trials []race.Trial) race.Rules {
		n, _, _ := slicing.Apart(trials)
		if back = n > 0; back {
			return all
		}
		return kept
	})
	run.Back = back
	return run
}

// slices takes those of one start.
func (b *bench) slices(rules race.Rules) *race.Slicing {
	s := b.start()
	var list []race.Trial
	for block := 0; ; block++ {
		state := race.Slices(rules, list)
		values := state.Next()
		if values == nil {
			return state
		}
		for _, n := range values {
			list = append(list, s.slice(n, block))
		}
	}
}

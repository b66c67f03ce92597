package race_test

// Races against curves whose truth is known, under noises as they are on real machines, whose
// ends are counted. The noise is not the model's own: outliers, two modes, bursts and a machine
// that drifts are in no formula of package race.

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/procfit/procfit/internal/verdict/contest/race"
)

// Run is a race at its end.
type Run struct {
	Curve  Curve
	Trials []race.Trial
	Lead   race.Lead
	Stop   race.Stop
	// Kept is how many values slices of one start left. Back is that they differed from the trials,
	// so that all values were raced.
	Kept int
	Back bool
}

// Race runs one.
func Race(c Curve, n Noise, rules race.Rules, r *rand.Rand) Run {
	return newBench(c, n, r).race(Run{Curve: c}, func([]race.Trial) race.Rules { return rules })
}

// race runs one under rules that may follow from its trials.
func (b *bench) race(run Run, rules func([]race.Trial) race.Rules) Run {
	for block := 0; ; block++ {
		state := race.New(rules(run.Trials), run.Trials)
		step := state.Next()
		if step.Stop != "" {
			run.Stop, run.Lead = step.Stop, state.Lead()
			return run
		}
		for _, choice := range step.Block {
			run.Trials = append(run.Trials, b.run(choice, block))
		}
	}
}

// Rules of a race over 1 to k, with k the default.
func Rules(k int, goal race.Goal) race.Rules {
	r := race.Rules{Default: k, Goal: goal, Latency: true}
	for n := 1; n <= k; n++ {
		r.Values = append(r.Values, n)
	}
	return r
}

// seed of all simulations. The model's constants were chosen on others (1, with curves
// that shared a stream), and the figures of docs/evidence/verdict-simulations.md come from this one.
const seed = 2

// Simulate runs races over curves of one name, each with a knee of its own.
func Simulate(name string, rules race.Rules, n Noise, runs int) Tally {
	return simulate(Race, name, rules, n, runs)
}

// SimulateSliced is the same, of races after slices of one start.
func SimulateSliced(name string, rules race.Rules, n Noise, runs int) Tally {
	return simulate(Sliced, name, rules, n, runs)
}

func simulate(one func(Curve, Noise, race.Rules, *rand.Rand) Run, name string, rules race.Rules, n Noise, runs int) Tally {
	k := rules.Values[len(rules.Values)-1]
	h := fnv.New64a()
	fmt.Fprint(h, name, k)
	stream := h.Sum64() // each curve's own
	tallies := make([]Tally, runs)
	next := make(chan int)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range next {
				r := rand.New(rand.NewPCG(uint64(i)*2654435761+seed, stream))
				own := rules
				own.Seed = uint64(i)
				tallies[i].count(one(NewCurve(name, k, r), n, own, r))
			}
		})
	}
	for i := range runs {
		next <- i
	}
	close(next)
	group.Wait()
	var total Tally
	for _, t := range tallies {
		total.Add(t)
	}
	return total
}

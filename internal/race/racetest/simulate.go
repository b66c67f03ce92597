package racetest

import (
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/procfit/procfit/internal/race"
)

// Run is a race at its end.
type Run struct {
	Curve      Curve
	Trials     []race.Trial
	Assessment race.Assessment
	Stop       race.Stop
}

// Race runs one.
func Race(c Curve, n Noise, rules race.Rules, r *rand.Rand) Run {
	b := newBench(c, n, r)
	run := Run{Curve: c}
	for block := 0; ; block++ {
		step := race.Next(rules, run.Trials)
		if step.Done {
			run.Stop, run.Assessment = step.Stop, step.Assessment
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

// Simulate runs races over curves of one name, each with a knee of its own.
func Simulate(name string, rules race.Rules, n Noise, runs int) Tally {
	k := rules.Values[len(rules.Values)-1]
	tallies := make([]Tally, runs)
	next := make(chan int)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range next {
				r := rand.New(rand.NewPCG(uint64(i)*2654435761+1, uint64(k)*31+uint64(len(name))))
				one := rules
				one.Seed = uint64(i)
				tallies[i].count(Race(NewCurve(name, k, r), n, one, r))
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

package racetest

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/procfit/procfit/internal/race"
)

// Run is a race to its end.
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
			run.Stop = step.Stop
			run.Assessment = step.Assessment
			return run
		}
		for _, choice := range step.Block {
			run.Trials = append(run.Trials, b.run(choice, block))
		}
	}
}

// Rules of a race over 1 to k.
func Rules(k int, goal race.Goal) race.Rules {
	r := race.Rules{Default: k, Goal: goal, Latency: true}
	for n := 1; n <= k; n++ {
		r.Values = append(r.Values, n)
	}
	return r
}

// Pilots are the trials that a sweep takes before its race.
const Pilots = 2

// Tally counts runs.
type Tally struct {
	Runs, Picked, Exact, Cannot, Proven, ProvenWrong int
	Slow, Late, Wrong                                int
	Excess                                           float64
	Trials                                           []int // of each run, pilots counted
	Claims                                           int
	Cover                                            map[race.Figure]*Coverage
}

// Coverage counts intervals that hold the truth.
type Coverage struct {
	Intervals, Held int
	Width           float64 // sum of logarithms
}

func (t *Tally) count(run Run) {
	t.Runs++
	t.Trials = append(t.Trials, len(run.Trials)+Pilots)
	a := run.Assessment
	truth := run.Curve.Truth()
	t.cover(run)
	if a.Pick == 0 {
		t.Cannot++
		return
	}
	t.Picked++
	t.Excess += float64(a.Pick - truth.Smallest)
	if a.Pick == truth.Smallest {
		t.Exact++
	}
	slow, late := truth.Wrong(run.Curve, a.Pick)
	if slow {
		t.Slow++
	}
	if late {
		t.Late++
	}
	if slow || late {
		t.Wrong++
	}
	if a.Confidence == race.Proven {
		t.Proven++
		if slow || late {
			t.ProvenWrong++
		}
	}
}

func (t *Tally) cover(run Run) {
	a := run.Assessment
	ref := a.Pick
	if ref == 0 {
		ref = a.Peak
	}
	for by, truth := range map[race.Figure][]float64{race.Throughput: run.Curve.Throughput, race.P99: run.Curve.P99} {
		if t.Cover == nil {
			t.Cover = map[race.Figure]*Coverage{race.Throughput: {}, race.P99: {}}
		}
		for n := 1; n <= run.Curve.K; n++ {
			if n == ref || !a.Model.Compares(ref, n, by) {
				continue
			}
			_, low, high := a.Model.Ratio(ref, n, by, 0.95)
			want := math.Exp(truth[ref] - truth[n])
			c := t.Cover[by]
			c.Intervals++
			c.Width += math.Log(high / low)
			if low <= want && want <= high {
				c.Held++
			}
		}
	}
}

func (t *Tally) Add(x *Tally) {
	t.Runs += x.Runs
	t.Picked += x.Picked
	t.Exact += x.Exact
	t.Cannot += x.Cannot
	t.Proven += x.Proven
	t.ProvenWrong += x.ProvenWrong
	t.Slow += x.Slow
	t.Late += x.Late
	t.Wrong += x.Wrong
	t.Excess += x.Excess
	t.Trials = append(t.Trials, x.Trials...)
	if t.Cover == nil {
		t.Cover = map[race.Figure]*Coverage{race.Throughput: {}, race.P99: {}}
	}
	for by, c := range x.Cover {
		t.Cover[by].Intervals += c.Intervals
		t.Cover[by].Held += c.Held
		t.Cover[by].Width += c.Width
	}
}

// Simulate runs a curve's races, each with a knee of its own.
func Simulate(name string, rules race.Rules, n Noise, runs int) *Tally {
	var mu sync.Mutex
	var group sync.WaitGroup
	total := &Tally{}
	workers := runtime.GOMAXPROCS(0)
	k := rules.Values[len(rules.Values)-1]
	for w := range workers {
		group.Go(func() {
			t := &Tally{}
			for i := w; i < runs; i += workers {
				r := rand.New(rand.NewPCG(uint64(i)*2654435761+1, uint64(k)*31+uint64(len(name))))
				one := rules
				one.Seed = uint64(i)
				t.count(Race(NewCurve(name, k, r), n, one, r))
			}
			mu.Lock()
			defer mu.Unlock()
			total.Add(t)
		})
	}
	group.Wait()
	return total
}

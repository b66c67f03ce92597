package lab

import (
	"fmt"
	"strconv"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/show/number"
)

// document002 is "Go 1.5 GOMAXPROCS Default": medians of 20 runs on a laptop of 4
// CPUs (2 cores × 2 threads) and on a server of 16 (2 × 4 × 2). Its programs with
// real parallelism are in doc002parallel.go.
func document002() map[string]described {
	chain, chainbuf, powser := switching("Chain ns/op", chainTable), switching("ChainBuf ns/op", chainbufTable), switching("Powser ns/op", powserTable)
	return map[string]described{
		"chain":    {chainStages("chain"), append(chain, chainCost())},
		"chainbuf": {chainStages("chainbuf"), chainbuf},
		"sieve":    {sieveStages, sieveHypotheses()},
		"powser":   {powserStages, powser},
		"build":    {buildStages, buildHypotheses()},
		"garbage":  {garbageStages, parallelProgram("Garbage ns/op", 31461838, 10427806, 5754040)},
		"http":     {httpStages, httpHypotheses()},
		"json":     {jsonStages, parallelProgram("JSON ns/op", 145014842, 44788720, 21817571)},
	}
}

// releases are document 002's Go 1.4 and 1.5, the oldest that can be had in the
// place of its Go 1.0, and some since. Quick is procfit's own Go alone.
func releases(o Options) []string {
	return pick(o, nil, []string{"1.2", "1.4", "1.5", "1.13", "1.21", "1.26"})
}

// A chain of 100 goroutines at 1 2 4 on the laptop, 1 2 4 8 12 16 on the server; 20
// runs.
func chainStages(program string) func(Options) []Stage {
	return func(o Options) []Stage {
		s := batch(pick(o, 80*time.Millisecond, 150*time.Millisecond), program, args("-n %d", pick(o, 5000, 10000))...)
		s.GoVersions, s.Repeats = releases(o), pick(o, 6, 20)
		s.Procs = laptopAndServer(o)
		return []Stage{s}
	}
}

// "creates many ephemeral goroutines, arranges the communication pattern in a tree,
// and has no use for parallelism".
func powserStages(o Options) []Stage {
	s := batch(pick(o, 200*time.Millisecond, 350*time.Millisecond), "powser", args("-n %d", pick(o, 20, 30))...)
	s.GoVersions, s.Repeats = releases(o), pick(o, 6, 20)
	s.Scaled = pick(o, "20 runs of some 3 s there, 6 of some 0.2 s here", "runs of some 3 s there, of some 0.3 s here")
	s.Procs = laptopAndServer(o)
	return []Stage{s}
}

// laptopAndServer are the values that the document has of its two machines, of its
// laptop those of the server too.
func laptopAndServer(o Options) plan.Procs { return pick(o, only(1, 2, 4), only(1, 2, 4, 8, 12, 16)) }

// costs are a program's at 1, 2 and 4 Ps on one machine.
type costs struct{ one, two, four float64 }

// table is the document's, of its two machines.
type table struct {
	laptop14, server14, laptop15, server15 costs
	beyond                                 [3]float64 // of server15, at 8, 12 and 16 Ps
	unit                                   string
	most                                   float64 // "under 1.1x": of two Ps with Go 1.5
	about                                  string  // "about 2x": the same with Go 1.4
	since                                  string  // what it says of the releases before
}

const reducedTo2 = "“by Go 1.1 (not shown) it had been reduced to about 2x, where it has stayed through Go 1.4”"

var (
	chainTable = table{
		laptop14: costs{28.8, 57, 66}, server14: costs{38.8, 110, 119},
		laptop15: costs{27.1, 29, 29}, server15: costs{36.1, 37, 37}, beyond: [3]float64{38, 37, 37}, unit: "µs", most: 1.1, about: "about 2", since: reducedTo2,
	}
	chainbufTable = table{
		laptop14: costs{32.4, 60, 69}, server14: costs{40.8, 116, 121},
		laptop15: costs{30.2, 33, 33}, server15: costs{39.7, 41, 41}, beyond: [3]float64{41, 41, 41}, unit: "µs", most: 1.1, about: "about 2", since: reducedTo2,
	}
	powserTable = table{
		laptop14: costs{3.34, 8.1, 8.3}, server14: costs{4.18, 11.2, 13.5},
		laptop15: costs{3.10, 3.3, 3.5}, server15: costs{4.05, 4.2, 4.7}, beyond: [3]float64{4.7, 4.7, 4.7}, unit: "s", most: 1.2, about: "about 2.5",
		since: "“Go 1.1 through Go 1.4 reduced that overhead to about 2.5x”",
	}
)

// over is a quotient as a hypothesis's Document has it.
func over(a, b float64, unit string) string {
	write := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	return fmt.Sprintf("%s ÷ %s %s = %s", write(a), write(b), unit, number.Count(a/b))
}

// switching are the hypotheses of programs that gain nothing from a second P. The
// document's words are the bounds: "under 1.1x"; of "about 2x", what its two
// machines have and a quarter beyond, since they differ by that themselves.
func switching(metric Figure, t table) []Hypothesis {
	against := func(procs int, release string) func(Results) Estimate {
		return Ratio(Quantity{Figure: metric, Procs: procs, Go: release}, Quantity{Figure: metric, Procs: 1, Go: release})
	}
	laptop, server := t.laptop14.two/t.laptop14.one, t.server14.two/t.server14.one
	low, high := min(laptop, server)/1.25, max(laptop, server)*1.25
	about := fmt.Sprintf("two Ps cost %s times one P (%.3g to %.3g)", t.about, low, high)
	list := []Hypothesis{
		{
			ID: "go1_5_two_ps", Says: fmt.Sprintf("Go 1.5: two Ps cost under %g times one P", t.most),
			Document: over(t.laptop15.two, t.laptop15.one, t.unit), Value: t.laptop15.two / t.laptop15.one, On: OnLaptop, Needs: 2,
			Measure: against(2, "1.5"), AtMost: t.most,
		},
		{
			ID: "go1_5_four_ps", Says: fmt.Sprintf("Go 1.5: four Ps do so too, under %g times", t.most),
			Document: over(t.server15.four, t.server15.one, t.unit), Value: t.server15.four / t.server15.one, On: OnServer, Needs: 4,
			Measure: against(4, "1.5"), AtMost: t.most,
		},
		{
			ID: "go1_4_two_ps", Says: "Go 1.4: " + about,
			Document: over(t.laptop14.two, t.laptop14.one, t.unit), Value: laptop, On: OnLaptop, Needs: 2,
			Measure: against(2, "1.4"), AtLeast: low, AtMost: high,
		},
		{
			ID: "go1_2_two_ps", Says: "Go 1.2: " + about,
			Document: t.since, Needs: 2,
			Measure: against(2, "1.2"), AtLeast: low, AtMost: high,
		},
		{
			ID: "today_two_ps", Says: fmt.Sprintf("today's Go: two Ps still cost under %g times one P", t.most),
			Document: over(t.server15.two, t.server15.one, t.unit), Value: t.server15.two / t.server15.one, On: OnServer, Needs: 2,
			Measure: against(2, ""), AtMost: t.most,
		},
		{
			ID: "today_four_ps", Says: fmt.Sprintf("today's Go: four Ps do so too, under %g times", t.most),
			Document: over(t.laptop15.four, t.laptop15.one, t.unit), Value: t.laptop15.four / t.laptop15.one, On: OnLaptop, Needs: 4,
			Measure: against(4, ""), AtMost: t.most,
		},
	}
	names := []string{"eight", "twelve", "sixteen"}
	for i, procs := range []int{8, 12, 16} {
		cost := t.beyond[i]
		list = append(list, Hypothesis{
			ID: "go1_5_" + names[i] + "_ps", Says: fmt.Sprintf("Go 1.5: %d Ps do so too, under %g times", procs, t.most),
			Document: over(cost, t.server15.one, t.unit), Value: cost / t.server15.one, On: OnServer, Needs: float64(procs),
			Measure: against(procs, "1.5"), AtMost: t.most,
		})
	}
	return list
}

// chainCost guards the program itself: it must cost what the document's did. Twelve
// years of processors are less than five times, and noise is 10 %.
func chainCost() Hypothesis {
	return Hypothesis{
		ID: "costs_as_then", Says: "today's Go, one P: a message through 100 goroutines costs 5 to 30 µs",
		Document: "27.1 µs in 2015",
		Measure:  Level(Quantity{Figure: "Chain ns/op", Procs: 1}, 1000), AtLeast: 5, AtMost: 30,
	}
}

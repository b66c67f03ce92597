package lab

import (
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/show/number"
)

// At 1 2 4 on the laptop and 1 2 4 8 12 16 on the server.
func sieveStages(o Options) []Stage {
	s := batch(pick(o, 200*time.Millisecond, 400*time.Millisecond), "sieve", args("-n %d", pick(o, 1000, 2000))...)
	s.GoVersions, s.Repeats = releases(o), pick(o, 6, 20)
	s.Scaled = pick(o, "20 runs of some 20 s there, 6 of 1000 primes here", "runs of some 20 s there, of 2000 primes here")
	s.Procs = laptopAndServer(o)
	return []Stage{s}
}

func sieveHypotheses() []Hypothesis {
	faster := func(procs int, release string) func(Results) Estimate {
		return Ratio(Quantity{Figure: "Sieve ns/op", Procs: 1, Go: release}, Quantity{Figure: "Sieve ns/op", Procs: procs, Go: release})
	}
	// The lower bound is the document's other machine: its laptop gains least, and
	// its CPUs are threads of two cores.
	const laptop2, laptop4 = 21.1 / 17.0, 21.1 / 10.6
	return []Hypothesis{
		{
			ID: "go1_5_two_ps", Says: "Go 1.5: two Ps are at least 1.24 times as fast as one (as on the document's laptop)",
			Document: "27.3 ÷ 15.3 s = 1.78", Value: 27.3 / 15.3, On: OnServer, Needs: 2, Measure: faster(2, "1.5"), AtLeast: laptop2,
		},
		{
			ID: "go1_5_four_ps", Says: "Go 1.5: four Ps are at least 1.99 times as fast as one",
			Document: "27.3 ÷ 8.1 s = 3.37", Value: 27.3 / 8.1, On: OnServer, Needs: 4, Measure: faster(4, "1.5"), AtLeast: laptop4,
		},
		{
			// No second machine of 8 and more: less a quarter, which the runs' own spread comes
			// to (0.80 to 1.36 at two Ps).
			ID: "go1_5_eight_ps", Says: "Go 1.5: 8 Ps are at least 4.4 times as fast as one",
			Document: "27.3 ÷ 4.7 s = 5.81", Value: 27.3 / 4.7, On: OnServer, Needs: 8, Measure: faster(8, "1.5"), AtLeast: 27.3 / 4.7 * 0.75,
		},
		{
			ID: "go1_5_twelve_ps", Says: "Go 1.5: 12 Ps are at least 5.2 times as fast as one",
			Document: "27.3 ÷ 3.9 s = 7", Value: 27.3 / 3.9, On: OnServer, Needs: 12, Measure: faster(12, "1.5"), AtLeast: 27.3 / 3.9 * 0.75,
		},
		{
			ID: "go1_5_sixteen_ps", Says: "Go 1.5: 16 Ps are at least 5.5 times as fast as one",
			Document: "27.3 ÷ 3.7 s = 7.38", Value: 27.3 / 3.7, On: OnServer, Needs: 16, Measure: faster(16, "1.5"), AtLeast: 27.3 / 3.7 * 0.75,
		},
		{
			ID: "go1_4_two_ps", Says: "Go 1.4: two Ps are at least 1.15 times as fast as one (as on the laptop)",
			Document: "27.8 ÷ 18.9 s = 1.47", Value: 27.8 / 18.9, On: OnServer, Needs: 2, Measure: faster(2, "1.4"), AtLeast: 21.8 / 18.9,
		},
		{
			ID: "today_two_ps", Says: "today's Go: two Ps are at least 1.24 times as fast as one",
			Document: "21.1 ÷ 17 s = 1.24", Value: laptop2, On: OnLaptop, Needs: 2, Measure: faster(2, ""), AtLeast: laptop2,
		},
		{
			ID: "today_four_ps", Says: "today's Go: four Ps are at least 1.99 times as fast as one",
			Document: "21.1 ÷ 10.6 s = 1.99", Value: laptop4, On: OnLaptop, Needs: 4, Measure: faster(4, ""), AtLeast: laptop4,
		},
	}
}

func garbageStages(o Options) []Stage {
	s := batch(pick(o, 250*time.Millisecond, 650*time.Millisecond), "garbage", pick(o, args("-n 100 -functions 100"), args("-n 50"))...)
	s.Scaled = "net/http parsed there, text of our own here"
	s.Procs = oneFourSixteen(o)
	return []Stage{s}
}

func httpStages(o Options) []Stage {
	s := batch(pick(o, 200*time.Millisecond, 550*time.Millisecond), "http", args("-n %d", pick(o, 5000, 20000))...)
	s.Procs = oneFourSixteen(o)
	return []Stage{s}
}

func jsonStages(o Options) []Stage {
	s := batch(pick(o, 280*time.Millisecond, 1600*time.Millisecond), "json", pick(o, args("-n 25 -levels 5"), nil)...)
	s.Scaled = pick(o, "145 ms a round trip there, some 10 here", "")
	s.Procs = oneFourSixteen(o)
	return []Stage{s}
}

func oneFourSixteen(o Options) plan.Procs { return only(1, 4, pick(o, 4, 16), o.cpus()) }

// parallelProgram are the hypotheses of programs with inherent parallelism: nanoseconds
// at 1, 4 and 16 on the server. Its 4 Ps leave 12 CPUs to the kernel and the
// collector, so a fifth less is still the same.
func parallelProgram(metric Figure, one, four, sixteen float64) []Hypothesis {
	faster := func(procs int) func(Results) Estimate {
		return Ratio(Quantity{Figure: metric, Procs: 1}, Quantity{Figure: metric, Procs: procs})
	}
	return []Hypothesis{
		{
			ID: "four_ps", Says: "four Ps are " + number.Count(one/four) + " times as fast as one, or a fifth less",
			Document: over(one, four, "ns"), Value: one / four, On: OnServer, Needs: 4, Measure: faster(4), AtLeast: one / four * 0.8,
		},
		{
			ID: "sixteen_ps", Says: "16 Ps are " + number.Count(one/sixteen) + " times as fast as one, or a fifth less",
			Document: over(one, sixteen, "ns"), Value: one / sixteen, On: OnServer, Needs: 16, Measure: faster(16), AtLeast: one / sixteen * 0.8,
		},
		{
			// The same by CPU, for a machine of any size.
			ID: "each_cpu", Says: "each CPU adds " + number.Count(one/four/4) + " of what one does, or a fifth less",
			Document: number.Count(one/four) + " ÷ 4 times = " + number.Count(one/four/4), Value: one / four / 4, On: OnServer, Needs: 2, Measure: speedup(Quantity{Figure: metric}), AtLeast: one / four / 4 * 0.8,
		},
	}
}

// httpHypotheses are those of the program that spends most of its time in the kernel.
// The document's four Ps left it 12 CPUs, so that what each CPU adds where all are used
// is only its 16 of 16 to tell.
func httpHypotheses() []Hypothesis {
	const metric, one, sixteen = Figure("HTTP ns/op"), 146737, 12652.0
	list := parallelProgram(metric, one, 32853, sixteen)
	each := &list[len(list)-1]
	const share = one / sixteen / 16
	each.Says = "with a P for each CPU, each adds " + number.Count(share) + " of what one alone does, or a fifth less"
	each.Document, each.Value, each.AtLeast = number.Count(one/sixteen)+" ÷ 16 times = "+number.Count(share), share, share*0.8
	return list
}

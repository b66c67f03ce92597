package lab

import (
	"fmt"
	"time"
)

// document001 is "GOMAXPROCS Tuning": 4 cores, results of go test -bench. What
// the preemption, stealing and tracing sections say is in doc001sched.go.
func document001() map[string]described {
	return map[string]described{
		"workload":   {workloadStages, workloadHypotheses()},
		"cpubound":   {cpuboundStages, cpuboundHypotheses()},
		"iobound":    {ioboundStages, ioboundHypotheses()},
		"contention": {contentionStages, contentionHypotheses()},
		"preempt":    {preemptStages, preemptHypotheses()},
		"stealing":   {stealingStages, stealingHypotheses()},
		"schedtrace": {schedtraceStages, schedtraceHypotheses()},
	}
}

// The document shows the program and gives no numbers; what it says of the kinds
// of work can be measured.
func workloadStages(o Options) []Stage {
	d := pick(o, 300*time.Millisecond, time.Second)
	var list []Stage
	const sums, sleeps = `sums:higher=([\d.]+) sums/s`, `sleeps:higher=([\d.]+) sleeps/s`
	for _, kind := range []struct {
		id, title string
		metrics   []string
	}{
		{"cpu", "a goroutine that computes for each P", []string{sums}},
		{"io", "100 goroutines that wait 10 ms, over and over", []string{sleeps}},
		{"mixed", "50 that compute and 50 that wait", []string{sums, sleeps}},
	} {
		s := batch(d+100*time.Millisecond, "workload", args("-workload %s -duration %s", kind.id, d)...)
		s.ID, s.Title, s.Scaled = kind.id, kind.title, fmt.Sprintf("10 s a setting there, %s here", d)
		s.Procs = pick(o, only(1, o.cpus()), only(1, 2, 4, 8, o.cpus()))
		s.measure(kind.metrics...)
		list = append(list, s)
	}
	return list
}

func workloadHypotheses() []Hypothesis {
	return []Hypothesis{
		{
			ID: "cpu_scales", Says: "computing scales linearly: each CPU adds at least 0.9 of what one does",
			Document: "“CPU-bound workloads scale linearly to physical core count”", Needs: 2,
			Measure: speedup(Quantity{Stage: "cpu"}), AtLeast: tenthLess,
		},
		{
			ID: "io_insensitive", Says: "waiting does not depend on GOMAXPROCS: as many waits a second within 5 %",
			Document: "“I/O-bound workloads are GOMAXPROCS-insensitive”",
			Measure:  Flat(Quantity{Stage: "io", Figure: "sleeps", Procs: 1}), AtMost: flatMore,
		},
		{
			ID: "cpu_utilisation", Says: "what computes uses at least 90 % of the CPUs",
			Document: "“CPU-bound: 90%+ utilization”",
			Measure:  perCPU(Quantity{Stage: "cpu", Figure: CPUs, Procs: AtCPUs}), AtLeast: 0.90,
		},
	}
}

// At 1 2 4 8 16, and at the CPUs and twice that.
func cpuboundStages(o Options) []Stage {
	n := o.cpus()
	s := batch(pick(o, 250*time.Millisecond, 800*time.Millisecond), "cpubound", pick(o, args("-steps 10000000"), nil)...)
	s.Scaled = pick(o, "tasks of 100,000,000 steps there, 16 of 10,000,000 here", "as many tasks as go test chose there, 16 here")
	s.Procs = pick(o, only(1, n, 2*n), only(1, 2, 4, 8, 16, n, 2*n))
	return []Stage{s}
}

func cpuboundHypotheses() []Hypothesis {
	cost := func(procs int) Quantity { return Quantity{Figure: "CPUBound ns/op", Procs: procs} }
	return []Hypothesis{
		{
			ID: "two_ps", Says: "two Ps are twice as fast as one (within 10 %)",
			Document: "4.2 ÷ 2.1 s = 2", Value: 4.2 / 2.1, Needs: 2,
			Measure: Ratio(cost(1), cost(2)), AtLeast: 4.2 / 2.1 * tenthLess, AtMost: 4.2 / 2.1 * tenthMore,
		},
		{
			ID: "four_ps", Says: "four Ps are 4.2 times as fast as one (within 10 %)",
			Document: "4.2 ÷ 1.0 s = 4.2", Value: 4.2 / 1.0, Needs: 4,
			Measure: Ratio(cost(1), cost(4)), AtLeast: 4.2 / 1.0 * tenthLess, AtMost: 4.2 / 1.0 * tenthMore,
		},
		{
			// At least half of the 10 % that the document calls overhead.
			ID: "overhead_beyond", Says: "with twice the Ps as CPUs it takes at least 5 % longer: “overhead”",
			Document: "1.1 ÷ 1.0 s = 1.1", Value: 1.1 / 1.0, Needs: 2,
			Measure: beyond(2, cost(0)), AtLeast: 1.05,
		},
	}
}

// At 1 2 4 8. The document's requests go to httpbin.org.
func ioboundStages(o Options) []Stage {
	s := batch(pick(o, 400*time.Millisecond, 3100*time.Millisecond), "iobound", pick(o, args("-d 100ms"), nil)...)
	s.Scaled = pick(o, "answers after 1 s there, after 0.1 s here", "as many clients as go test chose there, 100 here")
	s.Procs = pick(o, only(1, 8), only(1, 2, 4, 8))
	return []Stage{s}
}

func ioboundHypotheses() []Hypothesis {
	return []Hypothesis{
		{
			ID: "eight_ps", Says: "eight Ps take as long as one, within 5 %",
			Document: "15.0 ÷ 15.3 s = 0.98", Value: 15.0 / 15.3,
			Measure: Ratio(Quantity{Figure: "IOBound ns/op", Procs: 8}, Quantity{Figure: "IOBound ns/op", Procs: 1}), AtLeast: flatLess, AtMost: flatMore,
		},
		{
			ID: "flat", Says: "every number of Ps takes as long, within 5 %",
			Document: "15.3 ÷ 15.0 s = 1.02", Value: 15.3 / 15.0,
			Measure: Flat(Quantity{Figure: "IOBound ns/op", Procs: 1}), AtMost: flatMore,
		},
	}
}

// The document's benchmarks end in -8: GOMAXPROCS=8.
func contentionStages(o Options) []Stage {
	s := batch(pick(o, 100*time.Millisecond, 150*time.Millisecond), "contention", pick(o, args("-n 2000000"), nil)...)
	s.Procs = pick(o, only(1, 8, o.cpus()), only(1, 2, 4, 8, 16, o.cpus()))
	return []Stage{s}
}

func contentionHypotheses() []Hypothesis {
	contended := func(procs int) func(Results) Estimate {
		return Ratio(Quantity{Figure: "Contention/contended ns/op", Procs: procs}, Quantity{Figure: "Contention/alone ns/op", Procs: procs})
	}
	return []Hypothesis{
		{
			// What a cache line costs to pass on differs between processors by about two.
			ID: "nine_times", Says: "at 8 Ps, 16 goroutines on one mutex cost 9.3 times one alone, within a factor of two",
			Document: "523.0 ÷ 56.2 ns/op = 9.31", Value: 523.0 / 56.2, Needs: 8,
			Measure: contended(8), AtLeast: 523.0 / 56.2 / 2, AtMost: 523.0 / 56.2 * 2,
		},
		{
			// Half as much again is far from nine times, and beyond what is noise.
			ID: "contention_costs", Says: "with a P for each CPU they cost at least 1.5 times one alone",
			Document: "“Parallel with high contention: many context switches”", Needs: 2,
			Measure: contended(AtCPUs), AtLeast: 1.5,
		},
		{
			// A mutex that nobody waits for makes nobody switch: with one P the scheduler does,
			// every 10 ms. So the goroutines yield at every increment.
			ID: "switching_costs", Says: "with one P a switch between goroutines at every increment makes it cost at least 1.5 times one alone",
			Document: "“Each context switch between goroutines has a cost”",
			Measure:  Ratio(Quantity{Figure: "Contention/switching ns/op", Procs: 1}, Quantity{Figure: "Contention/alone ns/op", Procs: 1}), AtLeast: 1.5,
		},
	}
}

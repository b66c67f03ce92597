package lab

import (
	"github.com/procfit/procfit/internal/lab/programs/contention"
	"github.com/procfit/procfit/internal/lab/programs/cpubound"
	"github.com/procfit/procfit/internal/lab/programs/iobound"
	"github.com/procfit/procfit/internal/lab/programs/workload"
)

// goroutines is document 001, "GOMAXPROCS Tuning": 4 cores, results of go test -bench.
var goroutines = []Experiment{
	{
		ID: "workload", Document: "001", Kind: Batch, Language: modern, program: workload.Program,
		Title: "goroutines that compute, wait, or do both, for a given time",
		// The document shows the program and gives no numbers; what it says of the kinds
		// of work can be measured.
		stages: []sweep{{
			id: "cpu", title: "one computing goroutine per P", metrics: []string{`sums:higher=([\d.]+) sums/s`},
			quick: size{takes: 400 * ms, args: "-workload cpu -duration 300ms", procs: "1 n", scaled: "10 s a setting there, 300ms here"},
			full:  size{takes: 1100 * ms, args: "-workload cpu -duration 1s", procs: "1 2 4 8 n", scaled: "10 s a setting there, 1s here"},
		}, {
			id: "io", title: "100 goroutines that wait 10 ms, again and again", metrics: []string{`sleeps:higher=([\d.]+) sleeps/s`},
			quick: size{takes: 400 * ms, args: "-workload io -duration 300ms", procs: "1 n", scaled: "10 s a setting there, 300ms here"},
			full:  size{takes: 1100 * ms, args: "-workload io -duration 1s", procs: "1 2 4 8 n", scaled: "10 s a setting there, 1s here"},
		}, {
			id: "mixed", title: "50 that compute and 50 that wait", metrics: []string{`sums:higher=([\d.]+) sums/s`, `sleeps:higher=([\d.]+) sleeps/s`},
			quick: size{takes: 400 * ms, args: "-workload mixed -duration 300ms", procs: "n/2 n 4n", scaled: "10 s a setting there, 300ms here"},
			full:  size{takes: 1100 * ms, args: "-workload mixed -duration 1s", procs: "1 2 4 8 n/2 n 4n", scaled: "10 s a setting there, 1s here"},
		}},
		Hypotheses: []Hypothesis{
			{
				ID: "cpu_scales", Says: "computing scales linearly: each CPU adds at least 0.9 of what one does",
				Document: "“CPU-bound workloads scale linearly to physical core count”", Needs: 2,
				Measure: speedup(throughput.At("n").in("cpu")), AtLeast: tenthLess,
			},
			{
				ID: "io_insensitive", Says: "waiting does not depend on GOMAXPROCS: the same number of waits per second, within 5%",
				Document: "“I/O-bound workloads are GOMAXPROCS-insensitive”",
				Measure:  flat(figure("sleeps").At("1").in("io")), AtMost: flatMore,
			},
			{
				// Half the CPUs to all of them is what the document recommends: that no value beyond is
				// better, and not that all within are as good.
				ID: "mixed_at_cpus", Says: "mixed work: one P per CPU computes as much as any other number, within 5%",
				Document: "“Mixed workload | NumCPU / 2 to NumCPU | Tune based on metrics”", Needs: 2,
				Measure: peak(figure("sums").At("n").in("mixed")), AtLeast: flatLess,
			},
			{
				ID: "cpu_utilisation", Says: "computing goroutines use at least 90% of the CPUs",
				Document: "“CPU-bound: 90%+ utilization”",
				Measure:  perCPU(cpus.At("n").in("cpu")), AtLeast: 0.90,
			},
		},
	},
	{
		ID: "cpubound", Document: "001", Kind: Batch, Language: modern, program: cpubound.Program,
		Title: "tasks that only compute, one per P at a time",
		Claim: "4 cores, GOMAXPROCS 1 2 4 8: 4.2, 2.1, 1.0, 1.1 s",
		// At 1 2 4 8 16, and at the CPUs and twice that.
		stages: []sweep{{
			quick: size{takes: 250 * ms, args: "-steps 10000000", procs: "1 n 2n", scaled: "tasks of 100,000,000 steps there, 16 of 10,000,000 here"},
			full:  size{takes: 800 * ms, procs: "1 2 4 8 16 n 2n", scaled: "as many tasks as go test chose there, 16 here"},
		}},
		Hypotheses: []Hypothesis{
			{
				ID: "two_ps", Says: "two Ps are twice as fast as one (within 10%)",
				Document: "4.2 ÷ 2.1 s = 2", Value: 4.2 / 2.1, Needs: 2,
				Measure: figure("CPUBound ns/op").At("1").over("2"), AtLeast: 4.2 / 2.1 * tenthLess, AtMost: 4.2 / 2.1 * tenthMore,
			},
			{
				ID: "four_ps", Says: "four Ps are 4.2 times as fast as one (within 10%)",
				Document: "4.2 ÷ 1.0 s = 4.2", Value: 4.2 / 1.0, Needs: 4,
				Measure: figure("CPUBound ns/op").At("1").over("4"), AtLeast: 4.2 / 1.0 * tenthLess, AtMost: 4.2 / 1.0 * tenthMore,
			},
			{
				// At least half of the 10% that the document calls overhead.
				ID: "overhead_beyond", Says: "with twice as many Ps as CPUs it takes at least 5% longer: “overhead”",
				Document: "1.1 ÷ 1.0 s = 1.1", Value: 1.1 / 1.0, Needs: 2,
				Measure: figure("CPUBound ns/op").At("2n").over("n"), AtLeast: 1.05,
			},
		},
	},
	{
		ID: "iobound", Document: "001", Kind: Batch, Language: modern, program: iobound.Program,
		Title: "HTTP requests that wait a second each",
		Claim: "4 cores, GOMAXPROCS 1 2 4 8: 15.3, 15.2, 15.1, 15.0 s: flat",
		// At 1 2 4 8. The document's requests go to httpbin.org.
		stages: []sweep{{
			quick: size{takes: 400 * ms, args: "-d 100ms", procs: "1 8", scaled: "answers after 1 s there, after 0.1 s here"},
			full:  size{takes: 3100 * ms, procs: "1 2 4 8", scaled: "as many clients as go test chose there, 100 here"},
		}},
		Hypotheses: []Hypothesis{
			{
				ID: "eight_ps", Says: "eight Ps take as long as one, within 5%",
				Document: "15.0 ÷ 15.3 s = 0.98", Value: 15.0 / 15.3,
				Measure: figure("IOBound ns/op").At("8").over("1"), AtLeast: flatLess, AtMost: flatMore,
			},
			{
				ID: "flat", Says: "every number of Ps takes the same time, within 5%",
				Document: "15.3 ÷ 15.0 s = 1.02", Value: 15.3 / 15.0,
				Measure: flat(figure("IOBound ns/op").At("1")), AtMost: flatMore,
			},
		},
	},
	{
		ID: "contention", Document: "001", Kind: Batch, Language: modern, program: contention.Program,
		Title: "a counter under a mutex, by one goroutine and by 16",
		Claim: "one goroutine 56.2 ns/op, 16 goroutines 523 ns/op (9 times as much)",
		// The document's benchmarks end in -8: GOMAXPROCS=8.
		stages: []sweep{{
			quick: size{takes: 100 * ms, args: "-n 2000000", procs: "1 8 n"},
			full:  size{takes: 700 * ms, args: "-n 20000000", procs: "1 2 4 8 16 n"},
		}},
		Hypotheses: []Hypothesis{
			{
				// What a cache line costs to pass on differs between processors by about two.
				ID: "nine_times", Says: "at 8 Ps, 16 goroutines on one mutex cost 9.3 times one alone, within a factor of two",
				Document: "523.0 ÷ 56.2 ns/op = 9.31", Value: 523.0 / 56.2, Needs: 8,
				Measure: ratio(figure("Contention/contended ns/op").At("8"), figure("Contention/alone ns/op").At("8")), AtLeast: 523.0 / 56.2 / 2, AtMost: 523.0 / 56.2 * 2,
			},
			{
				// Half as much again is far from nine times, and beyond what is noise.
				ID: "contention_costs", Says: "with one P per CPU they cost at least 1.5 times one alone",
				Document: "“Parallel with high contention: many context switches”", Needs: 2,
				Measure: ratio(figure("Contention/contended ns/op").At("n"), figure("Contention/alone ns/op").At("n")), AtLeast: 1.5,
			},
			{
				// A mutex that nobody waits for makes nobody switch: with one P the scheduler does,
				// every 10 ms. So the goroutines yield at every increment.
				ID: "switching_costs", Says: "with one P, a switch between goroutines at every increment makes it cost at least 1.5 times one alone",
				Document: "“Each context switch between goroutines has a cost”",
				Measure:  ratio(figure("Contention/switching ns/op").At("1"), figure("Contention/alone ns/op").At("1")), AtLeast: 1.5,
			},
		},
	},
}

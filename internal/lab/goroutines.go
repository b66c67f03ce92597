package lab

import (
	"time"

	"github.com/procfit/procfit/internal/lab/programs/contention"
	"github.com/procfit/procfit/internal/lab/programs/cpubound"
	"github.com/procfit/procfit/internal/lab/programs/iobound"
	"github.com/procfit/procfit/internal/lab/programs/preempt"
	"github.com/procfit/procfit/internal/lab/programs/schedtrace"
	"github.com/procfit/procfit/internal/lab/programs/stealing"
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
	{
		ID: "preempt", Document: "001, 000", Kind: Batch, Language: ancient, program: preempt.Program,
		Title: "a tight loop next to a goroutine that must still run",
		Claim: "hangs with Go 1.13, runs since Go 1.14",
		// A loop that never yields, next to a goroutine that must still run. Where it hangs
		// the trial outlasts its limit. The document's program has nothing to collect; with a
		// collection the loop stops every P, since it never comes to a halt itself.
		stages: []sweep{{
			id: "releases", title: "before asynchronous preemption and since",
			quick: size{takes: 500 * ms, timeout: time.Second, args: "-d 50ms", procs: "1 2", scaled: fiftyHere, versions: "1.13 1.14"},
			full:  size{takes: time.Second, timeout: 2 * time.Second, args: "-d 50ms", procs: "1 2", scaled: fiftyHere, versions: "1.13 1.14"},
		}, {
			id: "collected", title: "the same two, with a garbage collection during the loop",
			full: size{takes: 2 * time.Second * 2 / 3, timeout: 2 * time.Second, args: "-d 50ms -collect", procs: "2 4", scaled: fiftyHere, versions: "1.13 1.14"},
		}, {
			id: "today", title: "procfit's own Go", fixed: true,
			quick: size{takes: 100 * ms, timeout: time.Second, args: "-d 50ms", procs: "1", scaled: fiftyHere},
			full:  size{takes: 100 * ms, timeout: 2 * time.Second, args: "-d 50ms", procs: "1 2", scaled: fiftyHere},
		}, {
			id: "off", title: "procfit's own Go without asynchronous preemption, GODEBUG=asyncpreemptoff=1", fixed: true,
			env:   []string{"GODEBUG=asyncpreemptoff=1"},
			quick: size{takes: time.Second, timeout: time.Second, args: "-d 50ms", procs: "1", scaled: fiftyHere},
			full:  size{takes: 2 * time.Second * 2 / 3, timeout: 2 * time.Second, args: "-d 600ms", procs: "1 2", scaled: sixHundredHere},
		}, {
			id: "turns", title: "two tight loops on one P: how long each has it", fixed: true,
			quick: size{takes: 250 * ms, args: "-steps 50000000", procs: "1", scaled: "--quick skips asyncpreemptoff=1"},
			full:  size{takes: 1300 * ms, args: "-steps 300000000", procs: "1"},
		}, {
			id: "turns_off", title: "the same without asynchronous preemption", fixed: true,
			env:  []string{"GODEBUG=asyncpreemptoff=1"},
			full: size{takes: 600 * ms, args: "-steps 100000000", procs: "1"},
		}},
		Hypotheses: []Hypothesis{
			{
				// sysmon looks every 10 ms at the latest, and takes the P from what has had it for 10 ms
				// (forcePreemptNS in runtime/proc.go): a turn takes 10 to 20 ms.
				ID: "every_10_ms", Says: "a tight loop has its P for 10 ms if another waits for it, within a factor of two",
				Document: "000: “It releases only when preempted (every ~10 ms by the scheduler) or when it yields voluntarily”",
				Measure:  level(figure("Preempt/turns ns/op").At("1").in("turns"), 10e6), AtLeast: 0.5, AtMost: 2,
			},
			{
				// Two loops that nothing interrupts have one turn each.
				ID: "until_it_ends", Today: true, Says: "with asyncpreemptoff=1 it has its P until it ends",
				Document: "000: “A CPU-bound goroutine, by definition, sits in a P until preempted”",
				Measure:  count(figure("Preempt/turns turns").At("1").in("turns_off"), 1), AtMost: 2,
			},
			{
				ID: "hangs_1_13", Says: "Go 1.13, one P: it hangs",
				Document: "“Goroutine 2 never executes because Goroutine 1 never yields control”",
				Measure:  ended(throughput.At("1").in("releases").built("1.13")), AtMost: mostly,
			},
			{
				ID: "hangs_1_13_two_ps", Says: "Go 1.13, two Ps, before any garbage collection: it never runs either",
				Document: "“Goroutine 2: never runs!”, whatever GOMAXPROCS is", Needs: 2,
				Measure: ended(throughput.At("2").in("releases").built("1.13")), AtMost: mostly,
			},
			{
				ID: "hangs_1_13_collected", Says: "Go 1.13, two Ps, after a garbage collection starts: it never runs again",
				Document: "“Program will hang here forever”, whatever GOMAXPROCS is", Needs: 2,
				Measure: ended(throughput.At("2").in("collected").built("1.13")), AtMost: mostly,
			},
			{
				ID: "hangs_1_13_collected_four_ps", Says: "Go 1.13, four Ps: a garbage collection stops all of them too",
				Document: "“Program will hang here forever”, whatever GOMAXPROCS is", Needs: 2,
				Measure: ended(throughput.At("4").in("collected").built("1.13")), AtMost: mostly,
			},
			{
				ID: "runs_1_14_collected", Says: "Go 1.14, two Ps: it also runs during a garbage collection",
				Document: "“The same code now works correctly”, Go 1.14+", Needs: 2,
				Measure: ended(throughput.At("2").in("collected").built("1.14")), AtLeast: mostly,
			},
			{
				ID: "runs_1_14", Says: "Go 1.14, one P: it runs",
				Document: "“The same code now works correctly”, Go 1.14+",
				Measure:  ended(throughput.At("1").in("releases").built("1.14")), AtLeast: mostly,
			},
			{
				ID: "runs_today", Today: true, Says: "today's Go, one P: it runs",
				Document: "“Preemption (since Go 1.14) prevents starvation”",
				Measure:  ended(throughput.At("1").in("today")), AtLeast: mostly,
			},
			{
				ID: "by_signals", Today: true, Says: "today's Go with asyncpreemptoff=1, one P: it hangs again, because preemption needs signals",
				Document: "“implemented via signals sent to OS threads, not explicit yield points”",
				Measure:  ended(throughput.At("1").in("off")), AtMost: mostly,
			},
		},
	},
	{
		ID: "stealing", Document: "001", Kind: Batch, Language: modern, program: stealing.Program, Trace: Execution,
		Title: "16 goroutines started on one P, which the other Ps steal",
		Claim: "GOMAXPROCS=4: every P runs some of the 16",
		// 16 goroutines made on one P, GOMAXPROCS=4. The document's sleep 10 ms, so that
		// there is nothing to steal; ours compute. Its listing cannot show which P one ran
		// on, and neither can a duration: procfit trace shows that.
		stages: []sweep{{
			id: "each", title: "each computes for 10 ms",
			quick: size{takes: 150 * ms, args: "-procs 0 -work 5ms", procs: "1 n", scaled: computeHere},
			full:  size{takes: 200 * ms, args: "-procs 0 -work 10ms", procs: "1 2 4 n", scaled: computeHere},
		}, {
			id: "fair", title: "all compute for the same time, in steps of 0.2 ms",
			quick: size{takes: 450 * ms, args: "-procs 0 -work 200us -for 400ms", procs: "2 4"},
			full:  size{takes: 1050 * ms, args: "-procs 0 -work 200us -for 1s", procs: "2 4"},
		}, {
			id: "short", title: "each computes for 10 µs, and they are made 2000 times",
			full: size{takes: 450 * ms, args: "-procs 0 -work 10us -waves 2000", procs: "n 4n 8n"},
		}},
		Hypotheses: []Hypothesis{
			{
				// Of 16 goroutines on 2, 4 or 8 CPUs none is left over; 20% is for the last
				// one to end.
				ID: "no_p_idle", Says: "16 goroutines started on one P keep every CPU busy: each CPU adds at least 0.8 of what one does",
				Document: "“No P sits idle if others have work”", Needs: 2,
				Measure: speedup(figure("Stealing ns/op").At("n").in("each")), AtLeast: 0.80,
			},
			{
				// Jain's index is as low if one of 16 gets nothing and the others get the same.
				ID: "fair_two_ps", Says: "two Ps divide the CPU time fairly between 16 goroutines: Jain's index of what each computed is at least 15/16",
				Document: fairly, Needs: 2,
				Measure: level(figure("Stealing jain-index").At("2").in("fair"), 1), AtLeast: 15.0 / 16,
			},
			{
				ID: "fair_four_ps", Says: "four Ps divide it fairly too: Jain's index is at least 15/16",
				Document: fairly, Needs: 2,
				Measure: level(figure("Stealing jain-index").At("4").in("fair"), 1), AtLeast: 15.0 / 16,
			},
			{
				// A trace does not show what a steal costs. Goroutines as short as these make many
				// steals: if each has a cost, the same work takes more CPU time. 5% is the bound of flat.
				ID: "steals_cost", Says: "short goroutines that one P makes take at least 5% more CPU time with eight times as many Ps as CPUs than with one P per CPU",
				Document: "000: “With more Ps, each steal scans more memory and is less likely to find work, so spend more time spinning”", Needs: 2,
				Measure: cpuOfRun.At("8n").in("short").over("n"), AtLeast: flatMore,
			},
		},
	},
	{
		ID: "schedtrace", Document: "001", Kind: Batch, Language: modern, program: schedtrace.Program, Trace: Scheduler,
		Title: "idle, then busy, then crowded, as the scheduler trace shows it",
		// The program's phases as the runtime's own lines show them: of idle the last line,
		// of spread the second, when all goroutines compute and none is done.
		stages: []sweep{{
			env: []string{"GODEBUG=schedtrace=20"},
			metrics: []string{
				`crowd_ns:lower=BenchmarkSchedtrace/crowd 1 (\d+) ns/op`,
				`idle_procs:higher=(?s)phase idle.*\bidleprocs=(\d+).*phase spread`,
				`idle_threads:higher=(?s)phase idle.*\bidlethreads=(\d+).*phase spread`,
				`spread_idle_procs:lower=(?s)phase spread.*?SCHED.*?SCHED[^\n]*?idleprocs=(\d+)`,
			},
			quick: size{takes: 850 * ms, args: "-d 300ms -n 100", procs: "4"},
			full:  size{takes: 2700 * ms, procs: "1 4"},
		}},
		Hypotheses: []Hypothesis{
			{
				ID: "idleprocs", Says: "while nothing runs, all Ps are counted as idle (three quarters or more: one of the 4 may be writing the line)",
				Document: "“1 processor currently idle”, of idleprocs=1",
				Measure:  count(figure("idle_procs").At("4"), 4), AtLeast: 3.0 / 4,
			},
			{
				ID: "spread_busy", Says: "while 5 goroutines compute on 4 Ps, none is idle (less than one, as the median)",
				Document: "“gomaxprocs=4 idleprocs=0 threads=5”, its second line",
				Measure:  count(figure("spread_idle_procs").At("4"), 1), AtMost: 0.5,
			},
			{
				// The program does no I/O in that phase: it sleeps in one goroutine.
				ID: "idlethreads_are_blocked", Says: "idle threads are blocked in I/O: a program without I/O has none",
				Document: "“2 threads blocked (I/O waiting)”, of idlethreads=2",
				Measure:  count(figure("idle_threads").At("4"), 1), AtMost: 0.5,
			},
		},
	},
}

const (
	fairly         = "“Fair distribution of CPU time”, of work stealing"
	fiftyHere      = "sleeps 1 s there, 50 ms here"
	sixHundredHere = "sleeps 1 s there, 600 ms here"
	computeHere    = "goroutines that sleep 10 ms there, that compute so long here"
)

// mostly bounds a share of trials. A program hangs or it does not: 6 of 6 prove
// more than half with 95% confidence, and no more.
const mostly = 0.5

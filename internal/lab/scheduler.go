package lab

import (
	"time"

	"github.com/procfit/procfit/internal/lab/programs/preempt"
	"github.com/procfit/procfit/internal/lab/programs/schedtrace"
	"github.com/procfit/procfit/internal/lab/programs/stealing"
)

// scheduler is what document 001 says of preemption, stealing and tracing.
var scheduler = []Experiment{
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
				ID: "idleprocs", Says: "while nothing runs, all 4 Ps are counted as idle (3 or more: one may be writing the line)",
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

package lab

import (
	"fmt"
	"time"
)

// A loop that never yields, beside a goroutine that must still run. Where it hangs
// the trial outlasts its limit. The document's program has nothing to collect; with a
// collection the loop stops every P, since it never comes to a halt itself.
func preemptStages(o Options) []Stage {
	limit := pick(o, time.Second, 2*time.Second)
	stage := func(id, title string, takes time.Duration) Stage {
		s := batch(takes, "preempt", args("-d 50ms")...)
		s.ID, s.Title, s.Scaled = id, title, "sleeps 1 s there, 50 ms here"
		s.Procs, s.Target.RunTimeout = only(1, 2), limit
		return s
	}
	releases := stage("releases", "before asynchronous preemption and since", limit/2)
	releases.GoVersions = []string{"1.13", "1.14"}
	collected := stage("collected", "the same two, where a collection begins beside the loop", limit*2/3)
	collected.Args, collected.GoVersions, collected.Procs = args("-d 50ms -collect"), releases.GoVersions, only(2, 4)
	today := stage("today", "procfit's own Go", 100*time.Millisecond)
	today.Fixed = true
	off := stage("off", "procfit's own Go without asynchronous preemption, GODEBUG=asyncpreemptoff=1", limit*2/3)
	off.Fixed = true
	off.Target.Env = []string{"GODEBUG=asyncpreemptoff=1"}
	if o.Quick {
		return []Stage{releases, today, off}
	}
	return []Stage{releases, collected, today, off}
}

// mostly bounds a share of trials. A program hangs or it does not: 6 of 6 prove
// more than half with 95 % confidence, and no more.
const mostly = 0.5

func preemptHypotheses() []Hypothesis {
	return []Hypothesis{
		{
			ID: "hangs_1_13", Says: "Go 1.13, one P: it hangs",
			Document: "“Goroutine 2 never executes because Goroutine 1 never yields control”",
			Measure:  Ended(Quantity{Stage: "releases", Procs: 1, Go: "1.13"}), AtMost: mostly,
		},
		{
			ID: "hangs_1_13_two_ps", Says: "Go 1.13, two Ps, before any collection: it never runs either",
			Document: "“Goroutine 2: never runs!”, whatever GOMAXPROCS is", Needs: 2,
			Measure: Ended(Quantity{Stage: "releases", Procs: 2, Go: "1.13"}), AtMost: mostly,
		},
		{
			ID: "hangs_1_13_collected", Says: "Go 1.13, two Ps, once a collection begins: it never runs again",
			Document: "“Program will hang here forever”, whatever GOMAXPROCS is", Needs: 2,
			Measure: Ended(Quantity{Stage: "collected", Procs: 2, Go: "1.13"}), AtMost: mostly,
		},
		{
			ID: "hangs_1_13_collected_four_ps", Says: "Go 1.13, four Ps: a collection stops them all likewise",
			Document: "“Program will hang here forever”, whatever GOMAXPROCS is", Needs: 2,
			Measure: Ended(Quantity{Stage: "collected", Procs: 4, Go: "1.13"}), AtMost: mostly,
		},
		{
			ID: "runs_1_14_collected", Says: "Go 1.14, two Ps: it runs beside a collection too",
			Document: "“The same code now works correctly”, Go 1.14+", Needs: 2,
			Measure: Ended(Quantity{Stage: "collected", Procs: 2, Go: "1.14"}), AtLeast: mostly,
		},
		{
			ID: "runs_1_14", Says: "Go 1.14, one P: it runs",
			Document: "“The same code now works correctly”, Go 1.14+",
			Measure:  Ended(Quantity{Stage: "releases", Procs: 1, Go: "1.14"}), AtLeast: mostly,
		},
		{
			ID: "runs_today", Says: "today's Go, one P: it runs",
			Document: "“Preemption (since Go 1.14) prevents starvation”",
			Measure:  Ended(Quantity{Stage: "today", Procs: 1}), AtLeast: mostly,
		},
		{
			ID: "by_signals", Says: "today's Go with asyncpreemptoff=1, one P: it hangs again, since signals do it",
			Document: "“implemented via signals sent to OS threads, not explicit yield points”",
			Measure:  Ended(Quantity{Stage: "off", Procs: 1}), AtMost: mostly,
		},
	}
}

// 16 goroutines made on one P, GOMAXPROCS=4. The document's sleep 10 ms, so that
// there is nothing to steal; ours compute. Its listing cannot tell which P one ran
// on, and neither can a duration: procfit trace shows that.
func stealingStages(o Options) []Stage {
	s := batch(pick(o, 150*time.Millisecond, 200*time.Millisecond), "stealing", args("-procs 0 -work %d", pick(o, 5, 10))...)
	s.Scaled = "goroutines that sleep 10 ms there, that compute so long here"
	s.Procs = pick(o, only(1, o.cpus()), only(1, 2, 4, o.cpus()))
	return []Stage{s}
}

func stealingHypotheses() []Hypothesis {
	return []Hypothesis{
		{
			// Of 16 goroutines on 2, 4 or 8 CPUs none is left over; 20 % is for the last
			// one to end.
			ID: "no_p_idle", Says: "16 goroutines made on one P keep every CPU busy: each adds at least 0.8 of what one does",
			Document: "“No P sits idle if others have work”", Needs: 2,
			Measure: speedup(Quantity{Figure: "Stealing ns/op"}), AtLeast: 0.80,
		},
	}
}

// The program's phases as the runtime's own lines show them: of idle the last line,
// of spread the second, when all goroutines compute and none is done.
func schedtraceStages(o Options) []Stage {
	const idle = `(?s)phase idle.*\b%s=(\d+).*phase spread`
	s := batch(pick(o, 850*time.Millisecond, 2700*time.Millisecond), "schedtrace", pick(o, args("-d 300ms -n 100"), nil)...)
	s.Target.Env = []string{"GODEBUG=schedtrace=20"}
	s.Procs = only(1, 4)
	s.measure(
		`crowd_ns:lower=BenchmarkSchedtrace/crowd 1 (\d+) ns/op`,
		`idle_procs:higher=`+fmt.Sprintf(idle, "idleprocs"),
		`idle_threads:higher=`+fmt.Sprintf(idle, "idlethreads"),
		`spread_idle_procs:lower=(?s)phase spread.*?SCHED.*?SCHED[^\n]*?idleprocs=(\d+)`,
	)
	return []Stage{s}
}

func schedtraceHypotheses() []Hypothesis {
	at := func(f Figure) Quantity { return Quantity{Figure: f, Procs: 4} }
	return []Hypothesis{
		{
			ID: "idleprocs", Says: "while nothing runs, all 4 Ps are counted as idle (3 or more: one may be writing the line)",
			Document: "“1 processor currently idle”, of idleprocs=1",
			Measure:  Level(at("idle_procs"), 4), AtLeast: 3.0 / 4,
		},
		{
			ID: "spread_busy", Says: "while 5 goroutines compute on 4 Ps, none is idle (less than one, as the median)",
			Document: "“gomaxprocs=4 idleprocs=0 threads=5”, its second line",
			Measure:  Level(at("spread_idle_procs"), 1), AtMost: 0.5,
		},
		{
			// The program does no I/O in that phase: it sleeps in one goroutine.
			ID: "idlethreads_are_blocked", Says: "idle threads are blocked in I/O: a program that does none has none",
			Document: "“2 threads blocked (I/O waiting)”, of idlethreads=2",
			Measure:  Level(at("idle_threads"), 1), AtMost: 0.5,
		},
	}
}

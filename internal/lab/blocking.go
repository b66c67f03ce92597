package lab

import "time"

// Calls that block, of the system by procfit's own program, and of C by one that is
// compiled for it. A millisecond is short enough for the runtime to leave a call its P
// now and then, and long enough for others to miss it.
func blockingStages(o Options) []Stage {
	n := o.cpus()
	calls := batch(pick(o, 350*time.Millisecond, 900*time.Millisecond), "blocking", pick(o, args("-d 100ms"), nil)...)
	calls.ID, calls.Title = "calls", "a hundred calls of the system that block"
	calls.Procs = pick(o, only(1, n), only(1, 2, 4, n))
	if o.Quick {
		calls.Scaled = "calls of C are left out of --quick"
		return []Stage{calls}
	}
	c := batch(800*time.Millisecond, "blocking")
	c.ID, c.Title, c.Build, c.Fixed = "c", "a hundred goroutines that call C, once for long, then over and over for a millisecond", Build{Source: "c"}, true
	c.Procs = only(1, n, 4*n)
	return []Stage{calls, c}
}

func blockingHypotheses() []Hypothesis {
	of := func(stage string, figure Figure, procs int) Quantity {
		return Quantity{Stage: stage, Figure: figure, Procs: procs}
	}
	const unlimited = "003: “There is no limit to the number of threads that can be blocked in system calls on behalf of Go code; those do not count against the GOMAXPROCS limit”"
	return []Hypothesis{
		{
			// Threads that the start left idle serve a few calls; one more is the runtime's own.
			ID: "a_thread_each", Says: "with one P each of a hundred blocked calls of the system has a thread, within 10 %",
			Document: unlimited,
			Measure:  Level(of("calls", "Blocking threads/call", 1), 1), AtLeast: tenthLess, AtMost: tenthMore,
		},
		{
			ID: "no_p", Says: "beside them as much is computed as without them, within 5 %",
			Document: "002: “The limit does not count threads blocked in system calls such as I/O”",
			Measure:  Ratio(of("calls", "Blocking beside-sums/s", AtCPUs), of("calls", "Blocking alone-sums/s", AtCPUs)), AtLeast: flatLess, AtMost: flatMore,
		},
		{
			ID: "c_a_thread_each", Says: "with one P each of a hundred blocked calls of C has a thread, within 10 %",
			Document: "000: “heavy cgo can mean more Ms than Ps. But GOMAXPROCS does not cap Ms — the runtime creates them as needed”",
			Measure:  Level(of("c", "Calls threads/call", 1), 1), AtLeast: tenthLess, AtMost: tenthMore,
		},
		{
			ID: "c_above_cpus", Says: "calls of C for a millisecond: four times as many Ps as CPUs make as many of them, within 5 %",
			Document: "000: “My code calls C and blocks” is one of three mistaken reasons for more Ps than CPUs", Needs: 2,
			Measure: multiplied(4, 1, of("c", "Calls calls/s", AtCPUs)), AtMost: flatMore,
		},
	}
}

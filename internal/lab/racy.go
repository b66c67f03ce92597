package lab

import "time"

// One P and as many as there are CPUs; and the same program built with the race
// detector, which reports at its end how many races it found.
func racyStages(o Options) []Stage {
	counter := batch(700*time.Millisecond, "racy")
	counter.ID, counter.Title = "counter", "as it is"
	counter.Procs = pick(o, only(1, o.cpus()), only(1, 2, 4, o.cpus()))
	if o.Quick {
		counter.Scaled = "the race detector is left out of --quick"
		return []Stage{counter}
	}
	detector := batch(500*time.Millisecond, "racy", args("-n 50000")...)
	detector.ID, detector.Title, detector.Build, detector.Fixed = "detector", "built with the race detector", Build{Race: true}, true
	detector.Procs = only(1, o.cpus())
	detector.Target.Env = []string{"GORACE=exitcode=0"} // its report is what is measured
	detector.measure(`races:higher=Found (\d+) data race`)
	return []Stage{counter, detector}
}

func racyHypotheses() []Hypothesis {
	lost := func(line string, procs int) func(Results) Estimate {
		return Level(Quantity{Stage: "counter", Figure: Figure("Racy/" + line + " lost-ppm"), Procs: procs}, 1)
	}
	found := func(procs int) func(Results) Estimate {
		return Level(Quantity{Stage: "detector", Figure: "races", Procs: procs}, 1)
	}
	return []Hypothesis{
		{
			ID: "undetected", Says: "with one P at most one of a million increments is lost",
			Document: "“The setting of GOMAXPROCS=1 may have thus far let those bugs go undetected”",
			Measure:  lost("increment", 1), AtMost: 1,
		},
		{
			// A thousand times what would be undetected.
			ID: "more_likely", Says: "with a P for each CPU at least a thousand of a million are lost",
			Document: "“Increased parallelism could make bugs in racy programs more likely to cause crashes or other problems”", Needs: 2,
			Measure: lost("increment", AtCPUs), AtLeast: 1000,
		},
		{
			ID: "keeps_working", Says: "one P keeps it working too where a computation lies between reading and writing: one of a million at most is lost",
			Document: "“the authors can set GOMAXPROCS=1 explicitly to keep them working until the bugs can be fixed”",
			Measure:  lost("compute", 1), AtMost: 1,
		},
		{
			ID: "detected", Says: "the race detector finds it with a P for each CPU",
			Document: "“We hope that both the race detector … has already helped programmers identify and eliminate many such bugs”",
			Measure:  found(AtCPUs), AtLeast: 1,
		},
		{
			ID: "detected_at_one", Says: "the race detector finds it with one P too, where nothing goes wrong",
			Document: "“We hope that both the race detector … has already helped programmers identify and eliminate many such bugs”",
			Measure:  found(1), AtLeast: 1,
		},
	}
}

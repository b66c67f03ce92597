package lab

import "time"

// Four, 16 and 32 times the CPUs; and 128 Ps under a quota of one.
func extremesStages(o Options) []Stage {
	n := o.cpus()
	stage := func(id, title string, d time.Duration) Stage {
		s := batch(d+50*time.Millisecond, "extremes", args("-d %s", d)...)
		s.ID, s.Title = id, title
		return s
	}
	cpus := stage("cpus", "without a quota", pick(o, 250*time.Millisecond, 1500*time.Millisecond))
	cpus.Procs = only(n, 4*n, 16*n, 32*n)
	// Five of the kernel's periods of 100 ms, and twenty.
	pod := stage("pod", "under a quota of 1 CPU", pick(o, 500*time.Millisecond, 2*time.Second))
	pod.Quotas, pod.Procs = quotas(1), only(1, 128)
	return []Stage{cpus, pod}
}

// multiplied measures a figure at so many times the Ps as there are CPUs, against
// another multiple.
func multiplied(over, under int, q Quantity) func(Results) Estimate {
	return func(r Results) Estimate {
		q.Procs = AtCPUs
		a, b := q, q
		if m := r[q.Stage]; m.Result != nil {
			a.Procs, b.Procs = over*q.procs(m), under*q.procs(m)
		}
		return ratio(r, a, b)
	}
}

func extremesHypotheses() []Hypothesis {
	of := func(f Figure) Quantity { return Quantity{Stage: "cpus", Figure: f} }
	pod := func(f Figure) func(Results) Estimate {
		at := func(procs int) Quantity { return Quantity{Stage: "pod", Figure: f, Procs: procs, Quota: 1} }
		return Ratio(at(128), at(1))
	}
	const p99 = "Extremes p99-ns"
	const typically = "“raising GOMAXPROCS from 16 to 64 on a CPU-bound workload typically loses 2–10% throughput and 5–20% p99 latency. From 64 to 256 the loss is worse”"
	return []Hypothesis{
		{
			// Worse than 2 to 10 % and 5 to 20 %: as much, at least.
			ID: "from_four_to_sixteen", Says: "from four to 16 times the CPUs at least another 2 % of the throughput is lost",
			Document: typically, Needs: 2,
			Measure: multiplied(16, 4, of(Throughput)), AtMost: 0.98,
		},
		{
			ID: "from_four_to_sixteen_p99", Says: "from four to 16 times the CPUs the p99 rises by at least another 5 %",
			Document: typically, Needs: 2,
			Measure: multiplied(16, 4, of(p99)), AtLeast: 1.05,
		},
		{
			ID: "thirty_two_times_loses", Says: "32 times as many Ps as CPUs serve at least 2 % less than as many",
			Document: "“With 128 Ps on a machine where 4 cores are actually available, you pay scheduling overhead for 124 idle Ps”", Needs: 2,
			Measure: multiplied(32, 1, of(Throughput)), AtMost: 0.98,
		},
		{
			ID: "context_switches", Says: "16 times as many Ps as CPUs make at least twice the context switches",
			Document: "“they end up time-slicing the same physical cores, which adds context-switch cost without adding throughput”", Needs: 2,
			Measure: multiplied(16, 1, of(Switches)), AtLeast: 2,
		},
		{
			ID: "memory", Says: "32 times as many Ps as CPUs take at least 5 % more memory",
			Document: "“Each P carries a per-P cache (mcache) for the allocator. More Ps = more caches = more memory used”",
			Measure:  multiplied(32, 1, of("Extremes memory-B")), AtLeast: flatMore,
		},
		{
			// A catastrophe has no number: half of what is served is lost. It is of a node on
			// which many of the 128 run at once.
			ID: "catastrophe", Says: "under 1 CPU, 128 Ps serve at most half of what one does",
			Document: "“Catastrophe lives at the extremes (1 on a 16-core box, 128 in a pod with cpu: 1)”", Needs: 32,
			Measure: pod(Throughput), AtMost: 0.5,
		},
		{
			ID: "pod_p99", Says: "under 1 CPU, 128 Ps have a p99 at least 5 % higher than one",
			Document: "“CFS throttling visible in cAdvisor metrics”", Needs: 2,
			Measure: pod(p99), AtLeast: 1.05,
		},
		{
			// As many CPUs use a quota up in a 32nd of its period, and then all of them wait.
			ID: "ten_times", Says: "under 1 CPU, 128 Ps have ten times the p99 of one",
			Document: "“p99 latency 10× expected”, a pod of 2 CPUs on a host of 64", Needs: 32,
			Measure: pod(p99), AtLeast: 10,
		},
	}
}

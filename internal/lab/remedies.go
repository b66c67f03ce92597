package lab

import "time"

// The document's benchmarks end in -8: GOMAXPROCS=8.
func remediesStages(o Options) []Stage {
	s := batch(pick(o, 150*time.Millisecond, 700*time.Millisecond), "remedies", pick(o, args("-n 1000000"), nil)...)
	s.Procs = pick(o, only(1, o.cpus()), only(1, 2, 4, 8, o.cpus()))
	return []Stage{s}
}

func remediesHypotheses() []Hypothesis {
	at := func(how string, procs int) Quantity {
		return Quantity{Figure: Figure("Remedies/" + how + " ns/op"), Procs: procs}
	}
	// The document gives no number: beyond the 10 % that single runs vary by, it helps.
	than := func(how string) func(Results) Estimate { return Ratio(at("mutex", AtCPUs), at(how, AtCPUs)) }
	return []Hypothesis{
		{
			ID: "lock_free", Says: "an atomic counter is at least 1.1 times as fast as the contended mutex",
			Document: "“Using lock-free data structures”", Needs: 2, Measure: than("atomic"), AtLeast: tenthMore,
		},
		{
			ID: "less_contention", Says: "a counter for each goroutine is at least 1.1 times as fast as the contended mutex",
			Document: "“Reducing contention on shared resources”", Needs: 2, Measure: than("sharded"), AtLeast: tenthMore,
		},
		{
			ID: "batches", Says: "counting in batches of a hundred is at least 1.1 times as fast as the contended mutex",
			Document: "“Batch operations to reduce switching frequency”", Needs: 2, Measure: than("batched"), AtLeast: tenthMore,
		},
		{
			ID: "choose_procs", Says: "one P is at least 1.1 times as fast on the contended mutex as one for each CPU",
			Document: "“Choose appropriate GOMAXPROCS for your workload”", Needs: 2,
			Measure: Ratio(at("mutex", AtCPUs), at("mutex", 1)), AtLeast: tenthMore,
		},
	}
}

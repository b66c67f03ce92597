package lab

import "time"

// One goroutine allocates. With a second P the collector can mark while it goes on;
// under a quota of one CPU that is time that the quota does not have.
func gcStages(o Options) []Stage {
	s := batch(pick(o, 300*time.Millisecond, 900*time.Millisecond), "gc", pick(o, args("-n 20000 -live 1024"), nil)...)
	free, limited := s, s
	free.ID, free.Title = "free", "without a quota"
	free.Procs = pick(o, only(1, o.cpus()), only(1, 2, 4, o.cpus()))
	limited.ID, limited.Title = "quota", "under a quota of 1 CPU"
	limited.Quotas, limited.Procs = quotas(1), only(1, 8)
	return []Stage{free, limited}
}

func gcHypotheses() []Hypothesis {
	free := func(f Figure, procs int) Quantity { return Quantity{Stage: "free", Figure: f, Procs: procs} }
	limited := func(f Figure, procs int) Quantity { return Quantity{Stage: "quota", Figure: f, Procs: procs, Quota: 1} }
	return []Hypothesis{
		{
			// "can improve": beyond what the documents call flat.
			ID: "one_goroutine_gains", Says: "one goroutine that allocates is at least 5 % faster with a P for each CPU than with one P",
			Document: "002: “The performance of single-goroutine programs can improve by raising GOMAXPROCS due to parallelism of the runtime, especially the garbage collector”", Needs: 2,
			Measure: Ratio(free("GC ns/op", 1), free("GC ns/op", AtCPUs)), AtLeast: flatMore,
		},
		{
			ID: "not_impacted", Says: "the collector takes as many CPUs with a P for each CPU as with one, within 5 %",
			Document: "003: “Threads used for non user-level code, such as garbage collection, is not directly impacted by GOMAXPROCS”", Needs: 2,
			Measure: Ratio(free("GC gc-cpus", AtCPUs), free("GC gc-cpus", 1)), AtLeast: flatLess, AtMost: flatMore,
		},
		{
			// What 003 sends its reader to read is not said in it; 10 % is what single runs
			// vary by.
			ID: "quota_costs", Says: "under 1 CPU, 8 Ps take at least 1.1 times as long as one: the collector uses the quota up",
			Document: "003: “The mismatch could negatively impact performance”, and “GOMAXPROCS impact on GC”", Needs: 2,
			Measure: Ratio(limited("GC ns/op", 8), limited("GC ns/op", 1)), AtLeast: tenthMore,
		},
		{
			ID: "quota_pauses", Says: "under 1 CPU, the longest pause of the collector is at least 1.1 times as long with 8 Ps as with one",
			Document: "003: “The mismatch could negatively impact performance”, and “GOMAXPROCS impact on GC”", Needs: 2,
			Measure: Ratio(limited("GC pause-max-ns", 8), limited("GC pause-max-ns", 1)), AtLeast: tenthMore,
		},
		{
			// "A few" is ten at most.
			ID: "settles", Says: "the collector settles within ten of its cycles: its heap is then as large as it comes to be, within 10 %",
			Document: "000: “the GC needs a few cycles to settle”",
			Measure:  Level(free("GC settled-cycle", AtCPUs), 1), AtMost: 10,
		},
		{
			// So that a trial of 20 s is what holds ten cycles, one must take 2 s; a tenth of
			// that would still be a reason to run for seconds.
			ID: "takes_seconds", Says: "ten cycles of a program that allocates take at least two seconds, so that a setting must run for long",
			Document: "000: “Run for at least 20 seconds per setting … the GC needs a few cycles to settle”",
			Measure:  Level(free("GC cycle-ns", AtCPUs), 2e9/10), AtLeast: 1,
		},
	}
}

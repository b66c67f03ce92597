package lab

import "time"

// As many Ps as CPUs, one more and one less: with work that waits and allocates, with
// work that allocates alone, and that again with a collector that has more room.
func headroomStages(o Options) []Stage {
	n, d := o.cpus(), pick(o, 250*time.Millisecond, 1500*time.Millisecond)
	stage := func(id, title, wait string) Stage {
		s := batch(d+50*time.Millisecond, "headroom", args("-d %s -wait %s", d, wait)...)
		s.ID, s.Title, s.Procs = id, title, only(max(1, n-1), n, n+1)
		return s
	}
	mixed := stage("mixed", "each request allocates, waits 1 ms, and reads what it allocated", "1ms")
	allocating := stage("allocating", "each request allocates and does not wait", "0s")
	tuned := stage("gogc", "the same with GOGC=400", "0s")
	tuned.Target.Env, tuned.Procs = []string{"GOGC=400"}, only(n)
	return []Stage{mixed, allocating, tuned}
}

// nextTo measures a figure with so many Ps more than there are CPUs, against as many Ps
// as CPUs.
func nextTo(more int, q Quantity) func(Results) Estimate {
	return func(r Results) Estimate {
		q.Procs = AtCPUs
		other := q
		if m := r[q.Stage]; m.Result != nil {
			other.Procs = max(1, q.procs(m)+more)
		}
		return ratio(r, other, q)
	}
}

func headroomHypotheses() []Hypothesis {
	of := func(stage string, f Figure) Quantity { return Quantity{Stage: stage, Figure: f} }
	const p99 = "Headroom p99-ns"
	return []Hypothesis{
		{
			ID: "throughput_prefers_one_more", Says: "work that computes and waits is served faster with one P more than CPUs",
			Document: "“throughput might prefer NumCPU+1 (the extra P covers one always-blocked thread)”", Needs: 2,
			Measure: nextTo(1, of("mixed", Throughput)), AtLeast: 1,
		},
		{
			ID: "latency_prefers_cpus", Says: "with one P more than CPUs its p99 is higher",
			Document: "“latency under high concurrency prefers NumCPU exactly … For tail latency (p99) the gap is wider still”", Needs: 2,
			Measure: nextTo(1, of("mixed", p99)), AtLeast: 1,
		},
		{
			// Of 8 CPUs one more is an eighth; of two it is half, of which nobody speaks.
			ID: "one_more_is_identical", Says: "one P more than CPUs serves the same, within 5 %",
			Document: "“A value of 7 or 9 would be nearly identical”, of 8 CPUs", Needs: 8,
			Measure: nextTo(1, of("mixed", Throughput)), AtLeast: flatLess, AtMost: flatMore,
		},
		{
			ID: "one_less_is_identical", Says: "one P less than CPUs serves the same, within 5 %",
			Document: "“A value of 7 or 9 would be nearly identical”, of 8 CPUs", Needs: 8,
			Measure: nextTo(-1, of("mixed", Throughput)), AtLeast: flatLess, AtMost: flatMore,
		},
		{
			ID: "headroom_for_gc", Says: "work that allocates is served faster with one P more than CPUs",
			Document: "“On extremely allocation-heavy services, an extra P can help by giving GC headroom”", Needs: 2,
			Measure: nextTo(1, of("allocating", Throughput)), AtLeast: 1,
		},
		{
			// The two ran in sweeps of their own, one after the other.
			ID: "gogc_gains_more", Says: "GOGC=400 serves at least 5 % more than the extra P does",
			Document: "“dwarfed by GC tuning (GOGC, GOMEMLIMIT)”", Needs: 2,
			Measure: func(r Results) Estimate {
				q, extra := of("gogc", Throughput), of("allocating", Throughput)
				q.Procs = AtCPUs
				if m := r["allocating"]; m.Result != nil {
					extra.Procs = q.procs(m) + 1
				}
				return ratio(r, q, extra)
			}, AtLeast: flatMore,
		},
	}
}

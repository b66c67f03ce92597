package lab

import (
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
)

// documentsTogether are the experiments of several documents: what each says of the
// default, and the table that 000, 001 and 004 send their readers to.
func documentsTogether() map[string]described {
	return map[string]described{
		"defaults": {defaultsStages, defaultsHypotheses()},
		"uber":     {uberStages, uberHypotheses()},
	}
}

// What every Go version chooses by itself, under quotas below and above what the
// rule of Go 1.25, at least 2, can tell apart.
func defaultsStages(o Options) []Stage {
	stage := batch(20*time.Millisecond, "defaults")
	stage.Procs = plan.Procs{Values: []*int{nil}} // unset
	stage.Quotas = pick(o, quotas(0, 1, 2), quotas(0, 0.5, 1, 2, 2.5))
	stage.measure(`gomaxprocs:higher=(\d+) gomaxprocs`, `numcpu:higher=(\d+) numcpu`)
	versions, language := stage, stage
	versions.ID, versions.Title = "versions", "each Go version, the go line its own"
	language.ID, language.Title, language.Language, language.Fixed = "language", "Go 1.26, the go line below 1.25", "1.24", true
	if o.Quick {
		versions.Title = "procfit's own Go"
		return []Stage{versions}
	}
	versions.GoVersions = []string{"1.2", "1.4", "1.5", "1.17", "1.18", "1.21", "1.24", "1.25", "1.26"}
	language.GoVersions = []string{"1.26"}
	return []Stage{versions, language}
}

func defaultsHypotheses() []Hypothesis {
	under := func(f Figure, quota float64, release string) func(Results) Estimate {
		return Ratio(Quantity{Stage: "versions", Figure: f, Quota: quota, Go: release}, Quantity{Stage: "versions", Figure: f, Go: release})
	}
	// What follows a quota below the CPUs is at most half of what does not, with one
	// exception: 2 of 3 CPUs. Of two CPUs a quota of one tells both, but for today's rule,
	// which gives 2 at least.
	const follows, ignores = 0.75, 1
	list := []Hypothesis{
		{
			ID: "one_before_1_5", Says: "before Go 1.5 the default is 1",
			Document: "002: “the default setting of GOMAXPROCS in all extant Go releases is 1”", Needs: 2,
			Measure: Level(Quantity{Stage: "versions", Figure: "gomaxprocs", Go: "1.4"}, 1), AtLeast: 1, AtMost: 1,
		},
		{
			ID: "cpus_since_1_5", Says: "since Go 1.5 it is the number of CPUs",
			Document: "002: “the number of CPUs available, as determined by runtime.NumCPU”", Needs: 2,
			Measure: Ratio(Quantity{Stage: "versions", Figure: "gomaxprocs", Go: "1.5"}, Quantity{Stage: "versions", Figure: "numcpu", Go: "1.5"}), AtLeast: 1, AtMost: 1,
		},
		{
			ID: "numcpu_1_18", Says: "with Go 1.18 NumCPU() under a quota of 1 CPU is 1",
			Document: "000: “From Go 1.18 onwards, on Linux, NumCPU() returns the cgroup-derived quota”", Needs: 2,
			Measure: under("numcpu", 1, "1.18"), AtMost: follows,
		},
		{
			ID: "numcpu_today", Says: "with today's Go NumCPU() under a quota of 1 CPU is 1",
			Document: "000: “From Go 1.18 onwards, on Linux, NumCPU() returns the cgroup-derived quota”", Needs: 2,
			Measure: under("numcpu", 1, ""), AtMost: follows,
		},
		{
			ID: "default_1_18", Says: "with Go 1.18 the default under a quota of 1 CPU is 1, not the machine's CPUs",
			Document: "000: “on Go ≥ 1.18 Linux, the default is correct in containers”", Needs: 2,
			Measure: under("gomaxprocs", 1, "1.18"), AtMost: follows,
		},
		{
			ID: "unseen_1_24", Says: "up to Go 1.24 the default ignores a quota of 1 CPU",
			Document: "001: “The Go runtime doesn't automatically detect these limits”; 003 and 004 alike", Needs: 2,
			Measure: under("gomaxprocs", 1, "1.24"), AtLeast: ignores,
		},
		{
			ID: "unseen_today", Says: "today's default ignores a quota of 2 CPUs too",
			Document: "001: “The Go runtime doesn't automatically detect these limits”; 003 and 004 alike", Needs: 3,
			Measure: under("gomaxprocs", 2, ""), AtLeast: ignores,
		},
		{
			ID: "exact_today", Says: "today's default under a quota of 1 CPU is 1",
			Document: "004's manifest: limits.cpu by resourceFieldRef", Needs: 2,
			Measure: Level(Quantity{Stage: "versions", Figure: "gomaxprocs", Quota: 1}, 1), AtMost: 1,
		},
		{
			ID: "language_1_24", Says: "today's Go with go 1.24 in go.mod ignores a quota of 2 CPUs still",
			Needs:   3,
			Measure: Ratio(Quantity{Stage: "language", Figure: "gomaxprocs", Quota: 2}, Quantity{Stage: "language", Figure: "gomaxprocs"}), AtLeast: ignores,
		},
	}
	for i := range list {
		list[i].Emulated = true
	}
	return list
}

// The README of automaxprocs: a quota of 2 at 1 2 3 4 8 24, 24 being the default of
// the host.
func uberStages(o Options) []Stage {
	s := server(o, "uber", 64)
	s.Scaled = "Uber's load balancer and load there, ours on one machine here"
	s.Quotas, s.Procs = quotas(2), pick(o, only(1, 2, 4), only(1, 2, 3, 4, 8, 24))
	return []Stage{s}
}

func uberHypotheses() []Hypothesis {
	at := func(f Figure, procs int) Quantity { return Quantity{Figure: f, Procs: procs, Quota: 2} }
	than := func(f Figure, procs int) func(Results) Estimate { return Ratio(at(f, procs), at(f, 2)) }
	// The README's runs are averages of many, its program is another: 10 %, as of
	// the other documents. Losses and rises must be half of its own at least.
	return []Hypothesis{
		{
			// Two CPUs' worth of quota, and the load beside it.
			ID: "one_p", Says: "under 2 CPUs one P serves 0.65 of what two do (within 10 %)",
			Document: "28893.18 ÷ 44715.07 req/s = 0.646", Value: 28893.18 / 44715.07, Needs: 2 + 1, Beside: 1,
			Measure: than(Throughput, 1), AtLeast: 28893.18 / 44715.07 * tenthLess, AtMost: 28893.18 / 44715.07 * tenthMore,
		},
		{
			ID: "three_ps", Says: "three Ps serve the same as two within 5 %",
			Document: "44212.93 ÷ 44715.07 req/s = 0.989", Value: 44212.93 / 44715.07, Needs: 2 + 1, Beside: 1,
			Measure: than(Throughput, 3), AtLeast: flatLess, AtMost: flatMore,
		},
		{
			ID: "four_ps", Says: "four Ps serve 8 % less than two, or at least half of that loss",
			Document: "41071.15 ÷ 44715.07 req/s = 0.919", Value: 41071.15 / 44715.07, Needs: 4,
			Measure: than(Throughput, 4), AtMost: half(41071.15 / 44715.07),
		},
		{
			ID: "eight_ps", Says: "eight Ps serve 26 % less, or at least half of that loss",
			Document: "33111.69 ÷ 44715.07 req/s = 0.741", Value: 33111.69 / 44715.07, Needs: 8,
			Measure: than(Throughput, 8), AtMost: half(33111.69 / 44715.07),
		},
		{
			ID: "twenty_four_ps", Says: "24 Ps serve half, or lose at least half as much",
			Document: "22191.4 ÷ 44715.07 req/s = 0.496", Value: 22191.40 / 44715.07, Needs: 24,
			Measure: than(Throughput, 24), AtMost: half(22191.40 / 44715.07),
		},
		{
			ID: "four_ps_p999", Says: "four Ps have a p99.9 1.6 times that of two, or at least half of that",
			Document: "42.94 ÷ 26.38 ms = 1.63", Value: 42.94 / 26.38, Needs: 4,
			Measure: than(P999, 4), AtLeast: half(42.94 / 26.38),
		},
		{
			ID: "twenty_four_ps_p999", Says: "24 Ps have a p99.9 2.9 times that of two, or at least half of that",
			Document: "76.19 ÷ 26.38 ms = 2.89", Value: 76.19 / 26.38, Needs: 24,
			Measure: than(P999, 24), AtLeast: half(76.19 / 26.38),
		},
		{
			// The README's other curve falls: the median prefers more Ps. Half of it again.
			ID: "four_ps_p50", Says: "four Ps have a p50 a third lower than two, or at least half of that",
			Document: "0.57 ÷ 0.84 ms = 0.679", Value: 0.57 / 0.84, Needs: 4,
			Measure: than(P50, 4), AtMost: half(0.57 / 0.84),
		},
	}
}

package lab

import (
	"math"
	"time"
)

// The ways that the document names to keep one tenant from another, and none. The busy
// tenant has the Ps that are swept; in a process of its own the quiet one has one.
func tenantsStages(o Options) []Stage {
	n, d := o.cpus(), pick(o, 200*time.Millisecond, time.Second)
	stage := func(how, title string) Stage {
		s := batch(2*d+100*time.Millisecond, "tenants", args("-how %s -d %s", how, d)...)
		s.ID, s.Title, s.Procs = how, title, only(n)
		return s
	}
	together := stage("together", "goroutines of one process")
	pinned := stage("pinned", "one process: LockOSThread, and a CPU of its own by taskset")
	pinned.Needs = []string{"taskset"}
	processes := stage("processes", "two processes, the quiet one with GOMAXPROCS=1")
	processes.Procs = only(max(1, n-1), n)
	if o.Quick {
		return []Stage{together, pinned, processes}
	}
	quota := stage("quota", "two processes, the busy one under a quota of half the CPUs")
	quota.Quotas, quota.Fixed = quotas(halfOf(o.CPUs)), true
	return []Stage{together, pinned, processes, quota}
}

// halfOf are half the CPUs, of which a quota takes hundredths.
func halfOf(cpus float64) float64 { return math.Round(cpus*50) / 100 }

func tenantsHypotheses() []Hypothesis {
	q := func(stage string, f Figure) Quantity { return Quantity{Stage: stage, Figure: f, Procs: AtCPUs} }
	const beside, alone = "Tenants beside-p99-ns", "Tenants alone-p99-ns"
	apart := func(stage string) func(Results) Estimate { return Ratio(q(stage, beside), q(stage, alone)) }
	const separate = "“Separate processes. The clean answer. One process per tenant (or tenant pool), each with its own GOMAXPROCS set appropriately, isolated by container or cgroup”"
	// A p99 within 20 % is procfit's own margin for as good; twice is well beyond it.
	const asGood, spoilt = 1.20, 2
	return []Hypothesis{
		{
			ID: "one_process", Says: "in one process the quiet tenant's p99 beside the busy one is at least twice what it is alone",
			Document: "“GOMAXPROCS is process-wide. It applies equally to every goroutine in the process”", Needs: 2,
			Measure: apart("together"), AtLeast: spoilt,
		},
		{
			// "Crude, rarely worth it": less than half of what is spoilt is mended.
			ID: "pinned_is_crude", Says: "a locked thread with a CPU of its own leaves it at least half of what it is without",
			Document: "“runtime.LockOSThread() and taskset/CPU affinity to bias certain threads to certain cores. Crude, rarely worth it”", Needs: 2,
			Measure: Ratio(q("pinned", beside), q("together", beside)), AtLeast: 0.5,
		},
		{
			ID: "processes", Says: "in a process of its own its p99 is as good as alone, within 20 %: the busy one has a P for each CPU",
			Document: separate, Needs: 2,
			Measure: apart("processes"), AtMost: asGood,
		},
		{
			ID: "unequal", Says: "in a process of its own its p99 is as good as alone, within 20 %: the busy one has one P less than there are CPUs",
			Document: separate, Needs: 2,
			Measure: func(r Results) Estimate {
				a, b := q("processes", beside), q("processes", alone)
				if m := r["processes"]; m.Result != nil {
					a.Procs = max(1, a.procs(m)-1)
					b.Procs = a.Procs
				}
				return ratio(r, a, b)
			}, AtMost: asGood,
		},
		{
			ID: "quota", Says: "in a process of its own its p99 is as good as alone, within 20 %: the busy one has a quota of half the CPUs",
			Document: separate, Needs: 2,
			Measure: func(r Results) Estimate {
				a, b := q("quota", beside), q("quota", alone)
				if m := r["quota"]; len(m.Trials) > 0 && m.Trials[0].Setting.QuotaCPUs != nil {
					a.Procs, a.Quota = a.procs(m), *m.Trials[0].Setting.QuotaCPUs
					b.Procs, b.Quota = a.Procs, a.Quota
				}
				return ratio(r, a, b)
			}, AtMost: asGood,
		},
	}
}

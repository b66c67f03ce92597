package lab

import (
	"fmt"
	"time"
)

// Half the CPUs to all of them is what the document recommends; four times as many is
// what it does not.
func mixedStages(o Options) []Stage {
	n, d := o.cpus(), pick(o, 500*time.Millisecond, 2*time.Second)
	s := batch(d+50*time.Millisecond, "mixed", args("-d %s", d)...)
	s.Scaled = fmt.Sprintf("10 s a setting there, %s here", d)
	s.Procs = pick(o, only(max(1, n/2), n, 4*n), only(max(1, n/2), n, 2*n, 4*n))
	return []Stage{s}
}

func mixedHypotheses() []Hypothesis {
	const recommended = "“Mixed workload | NumCPU / 2 to NumCPU | Tune based on metrics”"
	const computed, waited = Figure("Mixed/compute rounds/s"), Figure("Mixed/wait rounds/s")
	halved := func(f Figure) func(Results) Estimate {
		return func(r Results) Estimate {
			all := Quantity{Figure: f, Procs: AtCPUs}
			half := all
			if m := r[""]; m.Result != nil {
				half.Procs = max(1, all.procs(m)/2)
			}
			return ratio(r, half, all)
		}
	}
	return []Hypothesis{
		{
			ID: "half_computes", Says: "half as many Ps as CPUs compute as much as one for each, within 5 %",
			Document: recommended, Needs: 2,
			Measure: halved(computed), AtLeast: flatLess,
		},
		{
			ID: "half_waits", Says: "with half as many Ps what waits is served as often as with one for each CPU, within 5 %",
			Document: recommended, Needs: 2,
			Measure: halved(waited), AtLeast: flatLess,
		},
		{
			ID: "cpus_compute", Says: "one P for each CPU computes as much as any larger number, within 5 %",
			Document: recommended, Needs: 2,
			Measure: PeakAt(Quantity{Figure: computed, Procs: AtCPUs}), AtLeast: flatLess,
		},
		{
			ID: "cpus_wait", Says: "with one P for each CPU what waits is served as often as with any larger number, within 5 %",
			Document: recommended, Needs: 2,
			Measure: PeakAt(Quantity{Figure: waited, Procs: AtCPUs}), AtLeast: flatLess,
		},
	}
}

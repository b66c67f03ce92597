package lab

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"strings"
)

// document004 is "Golang Performance Penalty in Kubernetes": 6 CPUs, the load from
// another machine, one run of 3 minutes a setting.
func document004() map[string]described {
	return map[string]described{"k8sbench": {k8sbenchStages, k8sbenchHypotheses()}}
}

// The document's pods and connections, by CPU: a baseline of one pod a CPU, then
// ten on six, with wrk's 1000 connections in all. The limit of 1 CPU is that of the
// baseline; the document names no other for its two runs, and the manifest at its
// end, with a limit of 2, is not what they ran with.
func k8sbenchStages(o Options) []Stage {
	scale := func(there float64) int { return int(math.Round(there / 6 * o.CPUs)) }
	pods := cmp.Or(o.Pods, max(2, scale(10)))
	n := cmp.Or(o.N, 20)
	stage := server(o, "k8sbench", max(10, scale(1000)))
	scaled := func(there, here int) string {
		text := fmt.Sprintf("%d pods, 1000 connections and 3 minutes on 6 CPUs there; %d, %d and %s here", there, here, stage.Load.Connections, stage.Load.Duration)
		if !o.Elsewhere {
			text += ", with the load on the same machine"
		}
		return text
	}
	baseline, crowd := stage, stage
	baseline.ID, baseline.Title = "baseline", "a pod a CPU, as many Ps as its limit of 1, n=1"
	baseline.Fixed = true
	replicas := max(1, scale(6))
	baseline.Path, baseline.Replicas, baseline.Quotas, baseline.Procs = "cpu?n=1", []int{replicas}, quotas(1), only(1)
	baseline.Scaled = scaled(6, replicas)
	crowd.ID, crowd.Title = "pods", fmt.Sprintf("more pods than CPUs, n=%d", n)
	crowd.Path, crowd.Replicas = fmt.Sprintf("cpu?n=%d", n), []int{pods}
	crowd.Quotas, crowd.Procs = pick(o, quotas(0.5, 1), quotas(0.2, 0.5, 1, 2)), only(1, 32)
	crowd.Scaled = scaled(10, pods)
	return []Stage{baseline, crowd}
}

// half is the least of a document's effect that still is the same effect, elsewhere
// and under another load: half of what it adds or takes away.
func half(ratio float64) float64 { return (1 + ratio) / 2 }

// effect is how many CPUs it takes to see by how much the document's 32 Ps were worse:
// as many as its own machine had, beside the load, which came from another.
const effect, effectLoad = 6 + 1, 1

func k8sbenchHypotheses() []Hypothesis {
	at := func(f Figure, procs int) Quantity { return Quantity{Stage: "pods", Figure: f, Procs: procs, Quota: 1} }
	against := func(f Figure) func(Results) Estimate { return Ratio(at(f, 32), at(f, 1)) }
	return append([]Hypothesis{
		{
			// The two are of different work: 1 and 20 sums a request.
			ID: "baseline", Says: "the baseline, n=1, serves 1.9 times what more pods do with n=20, or at least half of that gain",
			Document: "96962 ÷ 50213 req/s = 1.93", Value: 96962.0 / 50213, Needs: 2,
			Measure: Ratio(Quantity{Stage: "baseline", Procs: 1, Quota: 1}, at(Throughput, 1)), AtLeast: half(96962.0 / 50213),
		},
		{
			// Only that they are fewer: this much a machine of any size can tell.
			ID: "fewer", Says: "32 Ps serve less than one",
			Document: "40356 ÷ 50213 req/s = 0.804", Value: 40356.0 / 50213, Needs: 2,
			Measure: against(Throughput), AtMost: 1,
		},
		{
			ID: "throughput", Says: "32 Ps serve 20 % less than one, or at least half of that loss",
			Document: "40356 ÷ 50213 req/s = 0.804", Value: 40356.0 / 50213, Needs: effect, Beside: effectLoad,
			Measure: against(Throughput), AtMost: half(40356.0 / 50213),
		},
		{
			// wrk's own averages, 20 and 33.01 ms, are corrected after the fact, as ours are
			// not. Little's law, connections = throughput × mean latency, gives what a closed
			// loop of 1000 really had: 24.78 and 19.92 ms.
			ID: "average", Says: "the average latency, by Little's law, is 24 % higher, or at least half of that",
			Document: "24.78 ÷ 19.92 ms = 1.24", Value: 24.78 / 19.92, Needs: effect, Beside: effectLoad,
			Measure: against(ClosedMean), AtLeast: half(24.78 / 19.92),
		},
		{
			ID: "maximum", Says: "the highest latency is 82 % higher, or at least half of that",
			Document: "465.36 ÷ 255.5 ms = 1.82", Value: 465.36 / 255.50, Needs: effect, Beside: effectLoad,
			Measure: against(ClosedMax), AtLeast: half(465.36 / 255.50),
		},
		{
			ID: "switches", Says: "there are 4.6 times the context switches, or at least half of that",
			Document: "30 ÷ 6.5 thousand/s = 4.62", Value: 30 / 6.5, Needs: effect, Beside: effectLoad,
			Measure: against(Switches), AtLeast: half(30 / 6.5),
		},
		{
			// Far beyond what the size of a machine makes of it.
			ID: "wait", Says: "the time waiting for a CPU is 38 times as long, or at least half of that",
			Document: "34 ÷ 0.9 s = 37.8", Value: 34 / 0.9, Needs: 2,
			Measure: against(Wait), AtLeast: half(34 / 0.9),
		},
		{
			// The document's 32 Ps come to 40356 × 33.01 ms = 1332 of 1000 connections. That
			// is wrk's correction, so that only wrk can show it. Within 5 % is the law.
			ID: "average_fits", Says: "throughput × average latency is 1.33 times the connections, as wrk has it (above 1.05)",
			Document: "33.01 ÷ 24.78 ms = 1.33", Value: 33.01 / 24.78,
			Measure: countedBy("wrk", "pods", littlesLaw(at(ClosedMean, 32), at(Cost, 32))), AtLeast: flatMore,
		},
	}, k8sbenchThrottled()...)
}

// k8sbenchThrottled are the hypotheses of document 000's checklist. The quota must be one
// that is used up: the pods together have less than the machine. 5 and 20 % are procfit's
// own margins.
func k8sbenchThrottled() []Hypothesis {
	throttled := func(f Figure) func(Results) Estimate {
		return Ratio(Quantity{Stage: "pods", Figure: f, Procs: 32, Quota: 0.5}, Quantity{Stage: "pods", Figure: f, Procs: 1, Quota: 0.5})
	}
	return []Hypothesis{
		{
			ID: "wrong_knob", Says: "throttled, at half a CPU a pod, GOMAXPROCS changes nothing: 32 Ps serve what one does within 5 %",
			Document: "000: “my CPU quota is too low — GOMAXPROCS is the wrong knob, raise the quota”", Needs: 2,
			Measure: throttled(Throughput), AtLeast: flatLess, AtMost: flatMore,
		},
		{
			ID: "wrong_knob_p99", Says: "throttled, it does not change the p99 either, within 20 %",
			Document: "000: “my CPU quota is too low — GOMAXPROCS is the wrong knob, raise the quota”", Needs: 2,
			Measure: throttled(ClosedP99), AtLeast: 1 / 1.20, AtMost: 1.20,
		},
	}
}

// countedBy is a measure of what a load generator counts in its own way: another's figures are
// none of it.
func countedBy(generator, stage string, measure func(Results) Estimate) func(Results) Estimate {
	return func(r Results) Estimate {
		m := r[stage]
		if m.Result == nil {
			return measure(r) // which says why
		}
		word, _, _ := strings.Cut(strings.TrimSpace(m.Result.Load.Command), " ")
		if filepath.Base(word) == generator {
			return measure(r)
		}
		return Estimate{Why: fmt.Sprintf("only %[1]s counts so, and it was not the load: --load '%[1]s …' asks it", generator)}
	}
}

// littlesLaw measures how many connections a mean latency accounts for, as a share
// of those that there were.
func littlesLaw(mean, cost Quantity) func(Results) Estimate {
	return func(r Results) Estimate {
		connections := 1.0
		if m := r[mean.Stage]; m.Result != nil {
			connections = float64(max(1, m.Result.Load.Connections))
		}
		return ratio(r, mean, cost).times(1 / connections)
	}
}

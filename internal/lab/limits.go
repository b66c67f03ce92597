package lab

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/procfit/procfit/internal/lab/programs/defaults"
	"github.com/procfit/procfit/internal/lab/programs/k8sbench"
	"github.com/procfit/procfit/internal/lab/programs/uber"
	"github.com/procfit/procfit/internal/show/number"
)

// limits are document 004, "Golang Performance Penalty in Kubernetes" (6 CPUs, the load from
// another machine, one run of 3 minutes a setting), and the experiments of several documents:
// what each says of the default, and the table that 000, 001 and 004 send their readers to.
var limits = []Experiment{
	{
		ID: "k8sbench", Document: "004", Kind: Server, Language: modern, service: k8sbench.Program,
		Title: "an HTTP server that computes as much as /cpu?n= says, run as many pods",
		Claim: "6 pods on 6 CPUs, n=1, GOMAXPROCS 1: 96962 req/s, average 10.3 ms, maximum 272 ms; 10 pods, n=20, GOMAXPROCS 1 and 32: 50213, 40356 req/s; average 20, 33 ms; maximum 255, 465 ms; 6.5k, 30k context switches per second",
		also:  k8sbenchStages,
		Hypotheses: []Hypothesis{
			{
				// The two are of different work: 1 and 20 sums a request.
				ID: "baseline", Says: "the baseline, n=1, serves 1.9 times what more pods do with n=20, or at least half of that gain",
				Document: "96962 ÷ 50213 req/s = 1.93", Value: 96962.0 / 50213, Needs: 2,
				Measure: ratio(throughput.At("1").in("baseline").under(1), throughput.At("1").in("pods").under(1)), AtLeast: half(96962.0 / 50213),
			},
			{
				// Only that they are fewer: this much a machine of any size can tell.
				ID: "fewer", Says: "32 Ps serve less than one",
				Document: "40356 ÷ 50213 req/s = 0.804", Value: 40356.0 / 50213, Needs: 2,
				Measure: throughput.At("32").in("pods").under(1).over("1"), AtMost: 1,
			},
			{
				ID: "throughput", Says: "32 Ps serve 20% less than one, or at least half of that loss",
				Document: "40356 ÷ 50213 req/s = 0.804", Value: 40356.0 / 50213, Needs: effect, LoadCPUs: effectLoad, Strengthens: true,
				Measure: throughput.At("32").in("pods").under(1).over("1"), AtMost: half(40356.0 / 50213),
			},
			{
				// wrk's own averages, 20 and 33.01 ms, are corrected after the fact, as ours are
				// not. Little's law, connections = throughput × mean latency, gives what a closed
				// loop of 1000 really had: 24.78 and 19.92 ms.
				ID: "average", Says: "the average latency, by Little's law, is 24% higher, or at least half of that",
				Document: "24.78 ÷ 19.92 ms = 1.24", Value: 24.78 / 19.92, Needs: effect, LoadCPUs: effectLoad, Strengthens: true,
				Measure: closedMean.At("32").in("pods").under(1).over("1"), AtLeast: half(24.78 / 19.92),
			},
			{
				ID: "maximum", Says: "the highest latency is 82% higher, or at least half of that",
				Document: "465.36 ÷ 255.5 ms = 1.82", Value: 465.36 / 255.50, Needs: effect, LoadCPUs: effectLoad, Strengthens: true,
				Measure: closedMax.At("32").in("pods").under(1).over("1"), AtLeast: half(465.36 / 255.50),
			},
			{
				ID: "switches", Says: "there are 4.6 times the context switches, or at least half of that",
				Document: "30 ÷ 6.5 thousand/s = 4.62", Value: 30 / 6.5, Needs: effect, LoadCPUs: effectLoad, Strengthens: true,
				Measure: switches.At("32").in("pods").under(1).over("1"), AtLeast: half(30 / 6.5),
			},
			{
				// Far beyond what the size of a machine makes of it.
				ID: "wait", Says: "the time waiting for a CPU is 38 times as long, or at least half of that",
				Document: "34 ÷ 0.9 s = 37.8", Value: 34 / 0.9, Needs: 2,
				Measure: wait.At("32").in("pods").under(1).over("1"), AtLeast: half(34 / 0.9),
			},
			{
				// The document's 32 Ps come to 40356 × 33.01 ms = 1332 of 1000 connections. That
				// is wrk's correction, so that only wrk can show it. Within 5% is the law.
				ID: "average_fits", Says: "throughput × average latency is 1.33 times the connections, as measured by wrk (above 1.05)",
				Document: "33.01 ÷ 24.78 ms = 1.33", Value: 33.01 / 24.78,
				Measure: countedBy("wrk", "pods", littlesLaw(closedMean.At("32").in("pods").under(1), cost.At("32").in("pods").under(1))), AtLeast: flatMore,
			},
			// Document 000's checklist. The quota must be one that is used up: the pods together
			// have less than the machine. 5 and 20% are procfit's own margins.
			{
				ID: "wrong_knob", Says: "throttled, at half a CPU per pod, GOMAXPROCS changes nothing: 32 Ps serve as much as one, within 5%",
				Document: "000: “my CPU quota is too low — GOMAXPROCS is the wrong knob, raise the quota”", Needs: 2,
				Measure: throughput.At("32").in("pods").under(0.5).over("1"), AtLeast: flatLess, AtMost: flatMore,
			},
			{
				ID: "wrong_knob_p99", Says: "throttled, GOMAXPROCS does not change the p99 either, within 20%",
				Document: "000: “my CPU quota is too low — GOMAXPROCS is the wrong knob, raise the quota”", Needs: 2,
				Measure: closedP99.At("32").in("pods").under(0.5).over("1"), AtLeast: 1 / 1.20, AtMost: 1.20,
			},
		},
	},
	{
		ID: "defaults", Document: "000, 001, 003, 004", Kind: Batch, Language: ancient, program: defaults.Program,
		Title: "the GOMAXPROCS that each Go version chooses itself",
		Claim: "they disagree: NumCPU follows the quota since Go 1.18 (000); the runtime does not see it (001, 003, 004)",
		// What every Go version chooses by itself, under quotas below and above what the
		// rule of Go 1.25, at least 2, can show.
		stages: []sweep{{
			id: "versions", title: "procfit's own Go", metrics: chosen,
			quick: size{takes: 20 * ms, procs: "unset", quotas: []float64{0, 1, 2}},
		}, {
			id: "versions", title: "each Go version, with its own go line", metrics: chosen,
			full: size{takes: 20 * ms, procs: "unset", quotas: []float64{0, 0.5, 1, 2, 2.5}, versions: "1.2 1.4 1.5 1.17 1.18 1.21 1.24 1.25 1.26"},
		}, {
			id: "language", title: "Go 1.26, with a go line below 1.25", metrics: chosen, fixed: true, language: "1.24",
			full: size{takes: 20 * ms, procs: "unset", quotas: []float64{0, 0.5, 1, 2, 2.5}, versions: "1.26"},
		}},
		Hypotheses: []Hypothesis{
			{
				ID: "one_before_1_5", Emulated: true, Says: "before Go 1.5 the default is 1",
				Document: "002: “the default setting of GOMAXPROCS in all extant Go releases is 1”", Needs: 2,
				Measure: count(figure("gomaxprocs").At("").in("versions").built("1.4"), 1), AtLeast: 1, AtMost: 1,
			},
			{
				ID: "cpus_since_1_5", Emulated: true, Says: "since Go 1.5 it is the number of CPUs",
				Document: "002: “the number of CPUs available, as determined by runtime.NumCPU”", Needs: 2,
				Measure: countOver(figure("gomaxprocs").At("").in("versions").built("1.5"), figure("numcpu").At("").in("versions").built("1.5")), AtLeast: 1, AtMost: 1,
			},
			{
				ID: "numcpu_1_18", Emulated: true, Says: "with Go 1.18 NumCPU() under a CPU limit of 1 is at most 0.75 of what it is without",
				Document: "000: “From Go 1.18 onwards, on Linux, NumCPU() returns the cgroup-derived quota”", Needs: 2,
				Measure: underQuota("numcpu", 1, "1.18"), AtMost: followsQuota,
			},
			{
				ID: "numcpu_today", Emulated: true, Today: true, Says: "with today's Go NumCPU() under a CPU limit of 1 is at most 0.75 of what it is without",
				Document: "000: “From Go 1.18 onwards, on Linux, NumCPU() returns the cgroup-derived quota”", Needs: 2,
				Measure: underQuota("numcpu", 1, ""), AtMost: followsQuota,
			},
			{
				ID: "default_1_18", Emulated: true, Says: "with Go 1.18 the default under a CPU limit of 1 is at most 0.75 of what it is without",
				Document: "000: “on Go ≥ 1.18 Linux, the default is correct in containers”", Needs: 2,
				Measure: underQuota("gomaxprocs", 1, "1.18"), AtMost: followsQuota,
			},
			{
				ID: "unseen_1_24", Emulated: true, Says: "up to Go 1.24 the default ignores a CPU limit of 1",
				Document: "001: “The Go runtime doesn't automatically detect these limits”; 003 and 004 say the same", Needs: 2,
				Measure: underQuota("gomaxprocs", 1, "1.24"), AtLeast: 1,
			},
			{
				ID: "unseen_today", Emulated: true, Today: true, Says: "today's default also ignores a CPU limit of 2",
				Document: "001: “The Go runtime doesn't automatically detect these limits”; 003 and 004 say the same", Needs: 3,
				Measure: underQuota("gomaxprocs", 2, ""), AtLeast: 1,
			},
			{
				ID: "exact_today", Emulated: true, Today: true, Says: "today's default is 1 under a CPU limit of 1",
				Document: "000: “on Go ≥ 1.18 Linux, the default is correct in containers”", Needs: 2,
				Measure: count(figure("gomaxprocs").At("").in("versions").under(1), 1), AtMost: 1,
			},
			{
				ID: "language_1_24", Emulated: true, Today: true, Says: "today's Go with go 1.24 in go.mod still ignores a CPU limit of 2",
				Needs:   3,
				Measure: countOver(figure("gomaxprocs").At("").in("language").under(2), figure("gomaxprocs").At("").in("language")), AtLeast: 1,
			},
		},
	},
	{
		ID: "uber", Document: "automaxprocs' README", Kind: Server, Language: modern, service: uber.Program,
		Title: "a load balancer, run under a CPU limit of 2",
		Claim: "quota 2 CPUs, GOMAXPROCS 1 2 3 4 8 24: 28.9, 44.7, 44.2, 41.1, 33.1, 22.2 thousand req/s; p50 1.46, 0.84, 0.66, 0.57, 0.43, 0.45 ms; p99.9 19.7, 26.4, 30.1, 42.9, 64.3, 76.2 ms",
		// The README of automaxprocs: a quota of 2 at 1 2 3 4 8 24, 24 being the default of the
		// host. The README's runs are averages of many, its program is another: 10%, as of the other
		// documents. Losses and rises must be half of its own at least.
		stages: []sweep{{
			connections: 64,
			quick:       size{takes: quickTrial, procs: "1 2 4", quotas: []float64{2}, scaled: balancerHere},
			full:        size{takes: fullTrial, procs: "1 2 3 4 8 24", quotas: []float64{2}, scaled: balancerHere},
		}},
		Hypotheses: []Hypothesis{
			{
				// Two CPUs' worth of quota, and the load generator next to it.
				ID: "one_p", Says: "under a CPU limit of 2, one P serves 0.65 of what two do (within 10%)",
				Document: "28893.18 ÷ 44715.07 req/s = 0.646", Value: 28893.18 / 44715.07, Needs: 2 + 1, LoadCPUs: 1,
				Measure: throughput.At("1").under(2).over("2"), AtLeast: 28893.18 / 44715.07 * tenthLess, AtMost: 28893.18 / 44715.07 * tenthMore,
			},
			{
				// What a limit of 2 serves is the CPUs that the Ps can use of it ÷ the CPU time of a
				// request, whatever the load takes next to it.
				ID: "one_p_by_cost", Says: "under a CPU limit of 2, one P can serve 0.65 of what two do, by the CPU time of a request (within 10%)",
				Document: "28893.18 ÷ 44715.07 req/s = 0.646", Value: 28893.18 / 44715.07, Needs: 2,
				Measure: scaled(cpuEach.At("2").under(2).over("1"), 1.0/2), AtLeast: 28893.18 / 44715.07 * tenthLess, AtMost: 28893.18 / 44715.07 * tenthMore,
			},
			{
				ID: "three_ps_by_cost", Says: "three Ps can serve the same as two, by the CPU time of a request, within 5%",
				Document: "44212.93 ÷ 44715.07 req/s = 0.989", Value: 44212.93 / 44715.07, Needs: 2,
				Measure: cpuEach.At("2").under(2).over("3"), AtLeast: flatLess, AtMost: flatMore,
			},
			{
				ID: "three_ps", Says: "three Ps serve the same as two within 5%",
				Document: "44212.93 ÷ 44715.07 req/s = 0.989", Value: 44212.93 / 44715.07, Needs: 2 + 1, LoadCPUs: 1,
				Measure: throughput.At("3").under(2).over("2"), AtLeast: flatLess, AtMost: flatMore,
			},
			{
				ID: "four_ps", Says: "four Ps serve 8% less than two, or at least half of that loss",
				Document: "41071.15 ÷ 44715.07 req/s = 0.919", Value: 41071.15 / 44715.07, Needs: 4,
				Measure: throughput.At("4").under(2).over("2"), AtMost: half(41071.15 / 44715.07),
			},
			{
				ID: "eight_ps", Says: "eight Ps serve 26% less, or at least half of that loss",
				Document: "33111.69 ÷ 44715.07 req/s = 0.741", Value: 33111.69 / 44715.07, Needs: 8,
				Measure: throughput.At("8").under(2).over("2"), AtMost: half(33111.69 / 44715.07),
			},
			{
				ID: "twenty_four_ps", Says: "24 Ps serve half, or lose at least half as much",
				Document: "22191.4 ÷ 44715.07 req/s = 0.496", Value: 22191.40 / 44715.07, Needs: 24,
				Measure: throughput.At("24").under(2).over("2"), AtMost: half(22191.40 / 44715.07),
			},
			{
				ID: "four_ps_p999", Says: "four Ps have a p99.9 1.6 times that of two, or at least half of that",
				Document: "42.94 ÷ 26.38 ms = 1.63", Value: 42.94 / 26.38, Needs: 4,
				Measure: p999.At("4").under(2).over("2"), AtLeast: half(42.94 / 26.38),
			},
			{
				ID: "twenty_four_ps_p999", Says: "24 Ps have a p99.9 2.9 times that of two, or at least half of that",
				Document: "76.19 ÷ 26.38 ms = 2.89", Value: 76.19 / 26.38, Needs: 24,
				Measure: p999.At("24").under(2).over("2"), AtLeast: half(76.19 / 26.38),
			},
			{
				// The README's other curve falls: the median prefers more Ps. Half of it again.
				ID: "four_ps_p50", Says: "four Ps have a p50 a third lower than two, or at least half of that",
				Document: "0.57 ÷ 0.84 ms = 0.679", Value: 0.57 / 0.84, Needs: 4,
				Measure: p50.At("4").under(2).over("2"), AtMost: half(0.57 / 0.84),
			},
		},
	},
}

const balancerHere = "Uber's load balancer and load there, ours on one machine here"

var chosen = []string{`gomaxprocs:higher=(\d+) gomaxprocs`, `numcpu:higher=(\d+) numcpu`}

// underQuota measures what a release chooses under a quota against what it does without.
func underQuota(f figure, quota float64, release string) measure {
	q := f.At("").in("versions").built(release)
	return countOver(q.under(quota), q)
}

// What follows a quota below the CPUs is at most half of what does not, with one
// exception: 2 of 3 CPUs. Of two CPUs a quota of one tells both, but for today's rule,
// which gives 2 at least.
const followsQuota = 0.75

// The document's pods and connections, by CPU: a baseline of one pod a CPU, then
// ten on six, with wrk's 1000 connections in all. The limit of 1 CPU is that of the
// baseline; the document names no other for its two runs, and the manifest at its
// end, with a limit of 2, is not what they ran with.
func k8sbenchStages(o Options) []Stage {
	scale := func(there float64) int { return int(math.Round(there / 6 * o.CPUs)) }
	pods := max(2, scale(10))
	stage := sweep{connections: max(10, scale(1000)), quick: size{takes: quickTrial}, full: size{takes: fullTrial}}.stage("k8sbench", Server, o)
	scaled := func(there, here int) string {
		text := fmt.Sprintf("%d pods, 1000 connections and 3 minutes on 6 CPUs there; %d, %d and %s here", there, here, stage.Load.Connections, number.Chosen(stage.Load.Duration))
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
	crowd.ID, crowd.Title = "pods", "more pods than CPUs, n=20"
	crowd.Path, crowd.Replicas = "cpu?n=20", []int{pods}
	crowd.Quotas, crowd.Procs = pick(o, quotas(0.5, 1), quotas(0.2, 0.5, 1, 2)), only(1, 32)
	crowd.Scaled = scaled(10, pods)
	return []Stage{baseline, crowd}
}

// half is the least of a document's effect that still is the same effect, elsewhere
// and under another load: half of what it adds or takes away.
func half(ratio float64) float64 { return (1 + ratio) / 2 }

// effect is how many CPUs it takes to see by how much the document's 32 Ps were worse:
// as many as its own machine had, next to the load, which came from another.
const effect, effectLoad = 6 + 1, 1

// countedBy is a measure of what a load generator counts in its own way: another's figures are
// none of it.
func countedBy(generator, stage string, of measure) measure {
	return of.then(func(r Results, e Estimate) Estimate {
		m := r[stage]
		if m.Result == nil {
			return e // which says why
		}
		word, _, _ := strings.Cut(strings.TrimSpace(m.Result.Load.Command), " ")
		if filepath.Base(word) == generator {
			return e
		}
		return Estimate{absent: true, Why: fmt.Sprintf("only %[1]s counts so, and it was not the load: --load '%[1]s …' asks it", generator)}
	})
}

// littlesLaw measures how many connections a mean latency accounts for, as a share
// of those that there were.
func littlesLaw(mean, cost quantity) measure {
	return ratio(mean, cost).then(func(r Results, e Estimate) Estimate {
		connections := 1.0
		if m := r[mean.Stage]; m.Result != nil {
			connections = float64(max(1, m.Result.Load.Connections))
		}
		return e.times(1 / connections)
	})
}

package lab

import (
	"fmt"
	"slices"

	"github.com/procfit/procfit/internal/lab/programs/requests"
	"github.com/procfit/procfit/internal/measure/plan"
)

// requestStatements is what CRI-O's injection of GOMAXPROCS and the plans of OpenShift to switch
// it on leave open: what a service with a CPU request and no limit loses or gains by a
// GOMAXPROCS from its request. Neither has figures; the bounds are procfit's own margins.
var requestStatements = []Experiment{{
	ID: "requests", Document: "CRI-O's pull requests 9860 and 9961", Kind: Server, Language: modern, service: requests.Program,
	Title: "a service with a CPU request and no limit, at GOMAXPROCS of once, twice and four times the request, alone and next to a busy neighbour",
	Claim: "CRI-O injects the request rounded up (9860), or twice the request rounded up (9961)",
	also:  requestsStages,
	Hypotheses: slices.Concat(
		fromRequest("quiet", "alone on the machine"),
		fromRequest("equal", "next to a neighbour with the same CPU shares"),
		fromRequest("double", "next to a neighbour with twice the CPU shares"),
		[]Hypothesis{
			{
				ID: "twice_quiet_gains", Says: "alone on the machine, twice the request serves at least 5% more than once the request",
				Document: "9961 replaces the formula of 9860 by twice the request", Needs: 3,
				Measure: throughput.At("2r").in("quiet").over("r"), AtLeast: flatMore,
			},
			{
				ID: "twice_equal_gains", Says: "next to a neighbour with the same CPU shares, twice the request serves at least 5% more than once the request",
				Document: "9961 replaces the formula of 9860 by twice the request", Needs: 3,
				Measure: throughput.At("2r").in("equal").over("r"), AtLeast: flatMore,
			},
		},
	),
}}

// fromRequest are the questions to one stage, for both of CRI-O's formulas: whether a GOMAXPROCS
// from the request is within procfit's margins of one P for each CPU, 5% of throughput and of
// CPU time and 20% of the p99. On two CPUs both formulas come to one P.
func fromRequest(stage, where string) (list []Hypothesis) {
	for _, f := range []struct {
		id, name, document string
		procs              ps
	}{
		{"once", "once the request", "9860: max(floor, ⌈request⌉)", "r"},
		{"twice", "twice the request", "9961: max(floor, ⌈2 × request⌉)", "2r"},
	} {
		ask := func(id, says string, of figure, least, most float64) {
			list = append(list, Hypothesis{
				ID: f.id + "_" + stage + "_" + id, Says: fmt.Sprintf("%s, %s %s one P for each CPU", where, f.name, says), Document: f.document, Needs: 2,
				Measure: of.At(f.procs).in(stage).over("n"), AtLeast: least, AtMost: most,
			})
		}
		ask("throughput", "serves at least 95% of what is served with", throughput, flatLess, 0)
		ask("p99", "has a p99 at most 20% above that of", p99, 0, 1.20)
		ask("cpu", "takes at least 5% less CPU time per request than", cpuEach, 0, flatLess)
	}
	return list
}

// sharesOfCPU are the CPU shares of a request of one CPU, as the kubelet asks for them.
const sharesOfCPU = 1024

// requestsStages are the service alone, and next to a program that computes on all CPUs with
// as many CPU shares, or twice as many. The request is a quarter of the CPUs, so that its own
// and the neighbour's fit the machine, and four times the request is one P for each CPU.
func requestsStages(o Options) (list []Stage) {
	request := float64(ps("n").of(o.CPUs)) / 4
	shares := int64(request * sharesOfCPU)
	for _, n := range []struct {
		id, title string
		shares    int64 // of the neighbour; 0: there is none
	}{
		{"quiet", "alone", 0},
		{"equal", "next to a neighbour with the same CPU shares", shares},
		{"double", "next to a neighbour with twice the CPU shares", 2 * shares},
	} {
		if o.Quick && n.id != "equal" {
			continue
		}
		s := sweep{
			id: n.id, title: fmt.Sprintf("a request of %g CPUs, %s", request, n.title), connections: 64,
			quick: size{takes: 500 * ms, procs: "r 2r 4r n"},
			full:  size{takes: fullTrial, procs: "r 2r 4r n"},
		}.stage("requests", Server, o)
		s.Target.Shares = shares
		if n.shares > 0 {
			s.Target.Grace = 500 * ms // a batch program does not end on SIGTERM
			s.Target.Beside = &plan.Neighbour{Command: []string{"extremes", "-d", "1h"}, Quota: new(0.0), Shares: n.shares}
		}
		list = append(list, s)
	}
	return list
}

package lab

import (
	"fmt"
	"slices"

	"github.com/procfit/procfit/internal/lab/programs/harness"
	"github.com/procfit/procfit/internal/lab/programs/spin"
)

// spinStatements are what document 000 says about Ps that have no work. There are such Ps if the
// load is only a part of what the server carries with one P for each CPU. The rate is the same
// for every value. The document has no numbers.
var spinStatements = []Experiment{{
	ID: "spin", Document: "000", Kind: Server, Language: modern, service: harness.Handle(spin.Answer),
	Title:      "a server of small requests at 10, 30 and 50% of what it carries: CPU time per request by the number of Ps",
	also:       spinStages,
	Hypotheses: slices.Concat(spinning(10), spinning(30), spinning(50)),
}}

// spinning are the questions about one rate. The cost of a P is "small but non-zero": it is shown
// if it is more than the 5% that the documents call flat.
func spinning(percent int) []Hypothesis {
	stage, at := spinStage(percent), fmt.Sprintf("at %d%% of the load", percent)
	list := []Hypothesis{{
		ID: fmt.Sprintf("eight_times_%d", percent), Says: at + ", eight times as many Ps as CPUs take at least 5% more CPU time per request than one P per CPU",
		Document: "“you pay scheduling overhead for 124 idle Ps. Worse, those Ps spin briefly when looking for work”", Needs: 2,
		Measure: openCPUEach.At("8n").in(stage).over("n"), AtLeast: flatMore,
	}}
	if percent >= 50 {
		return list // half of the Ps do not carry half of the load
	}
	return append(list, Hypothesis{
		ID: fmt.Sprintf("half_%d", percent), Says: at + ", half as many Ps as CPUs take at least 5% less CPU time per request than one P per CPU",
		Document: "“The cost per P is small but non-zero”", Needs: 2,
		Measure: openCPUEach.At("n/2").in(stage).over("n"), AtMost: flatLess,
	})
}

func spinStage(percent int) string { return fmt.Sprintf("at_%d", percent) }

// spinStages are a sweep for each rate. Only the open loop is evaluated, so that the closed loop
// before it is short.
func spinStages(o Options) (list []Stage) {
	for _, percent := range []int{10, 30, 50} {
		if o.Quick && percent != 10 {
			continue
		}
		s := sweep{
			id: spinStage(percent), title: fmt.Sprintf("%d%% of what one P per CPU carries", percent), connections: 64,
			quick: size{takes: 300 * ms, procs: "n/2 n 8n", scaled: "--quick measures 10% of the load only"},
			full:  size{takes: 700 * ms, procs: "1 n/2 n 2n 4n 8n"},
		}.stage("spin", Server, o)
		s.Load.RateShare, s.Load.Warmup = float64(percent)/100, 100*ms
		list = append(list, s)
	}
	return list
}

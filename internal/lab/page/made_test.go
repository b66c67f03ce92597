package page

import (
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// madeLab is a run of four experiments: a server under two quotas, a program of two Go
// versions of which one cannot be had, one whose machine was busy and that is not
// complete, and one that could not be run.
func madeLab() *lab.Outcome {
	server := pagetest.Groups()
	o := &lab.Outcome{Schema: lab.OutcomeSchema, Started: server.Started, Host: server.Host, Tool: server.Tool}
	o.Spec = spec.Spec{Command: "lab run", Operands: []string{"all"}, Set: []spec.Value{{Name: "out", Texts: []string{"results/lab"}}}}
	o.Experiments = []lab.Ran{
		ran("k8sbench", "an HTTP server", "004", server, lab.RanStage{ID: "pods", Title: "more pods than CPUs", Scaled: "10 pods there, 2 here", Directory: "k8sbench/pods"}),
		ran("chain", "a message through goroutines", "002", versions(), lab.RanStage{
			Directory: "chain", Invalid: 18, Versions: []lab.Version{{Asked: "1.4", Full: "go1.4.3"}, {Asked: "9.99", Fault: "no such release\nat all"}},
		}),
		ran("threads", "how many threads", "003", pagetest.Benchmarks(), lab.RanStage{Directory: "threads", OtherCPUs: new(1.25), Stopped: "no valid trial: it crashed"}),
		{ID: "busyworker", Title: "busy goroutines", Document: "003", NotRun: "a CPU limit needs a cgroup: mount one", Complete: true,
			Stages: []lab.RanStage{{Directory: "busyworker", NotRun: "a CPU limit needs a cgroup: mount one"}}},
	}
	o.Experiments[1].Claim, o.Experiments[1].Quick = "Go 1.4 28.8, 57 µs", true
	o.Experiments[1].Hypotheses = []lab.Answered{
		{Hypothesis: lab.Hypothesis{ID: "a", Says: "two Ps cost under 1.1 times one P", Document: "29 ÷ 27.1 µs = 1.07", Value: 29 / 27.1, On: "laptop", AtMost: 1.1}, Measured: lab.Estimate{Value: new(1.04), Low: new(1.02), High: new(1.07), N: 20}, Answer: lab.Holds},
		{Hypothesis: lab.Hypothesis{ID: "b", Says: "two Ps cost about twice one P", Document: "110 ÷ 38.8 µs = 2.84", Value: 110 / 38.8, On: "server", AtLeast: 1.58, AtMost: 3.54}, Measured: lab.Estimate{Value: new(1.25), Low: new(1.13), High: new(1.54), N: 6}, Answer: lab.DoesNotHold},
		{Hypothesis: lab.Hypothesis{ID: "c", Says: "four Ps are twice as fast", AtLeast: 1.9}, Answer: lab.Undecided, Reason: "the interval contains the bound of 1.9", Open: true, MoreBlocks: 12, MoreSeconds: 90},
		{Hypothesis: lab.Hypothesis{ID: "d", Says: "eight Ps are four times as fast", AtLeast: 3.9, Needs: 8}, Answer: lab.NotAsked, Lacks: 8, Reason: "needs 8 CPUs; this machine has 2"},
		{Hypothesis: lab.Hypothesis{ID: "e", Says: "and with Go 1.2", AtLeast: 3.9}, Answer: lab.NotAsked, Reason: "Go 1.2 was not run"},
		{Hypothesis: lab.Hypothesis{ID: "f", Today: true, Says: "and with today's Go", AtMost: 3.9}, Answer: lab.Holds, Measured: lab.Estimate{Value: new(3.0), Low: new(2.9), High: new(3.1), N: 20}},
	}
	o.Experiments[2].Complete = false
	return o
}

func ran(id, title, document string, r *verdict.Result, s lab.RanStage) lab.Ran {
	s.Planned, s.Run, s.Complete = r.TrialsPlanned, max(1, r.TrialsRun), true
	return lab.Ran{ID: id, Title: title, Document: document, Complete: true, Stages: []lab.RanStage{s}, Measured: lab.Results{s.ID: {Result: r}}}
}

// versions are two groups of one program, the second without a valid trial.
func versions() *verdict.Result {
	r, broken := pagetest.Benchmarks(), pagetest.Benchmarks()
	r.Target.BuiltIn = "chain"
	r.Groups = append(r.Groups, broken.Groups...)
	for i := range r.Groups {
		g := &r.Groups[i]
		g.GoVersion = []string{"1.4", "9.99"}[i]
		for j := range g.Settings {
			a := &g.Settings[j]
			a.Metrics = nil
			if i == 0 {
				mid := 28.8e3 * float64(1+j)
				a.Metrics = map[string]verdict.MetricInterval{"Chain ns/op": {Interval: interval(mid, mid*0.99, mid*1.03, 6), Unit: "ns/op", Better: "lower"}}
			} else {
				a.Trials, a.Invalid, a.InvalidReasons = 0, 6, []verdict.ReasonCount{{Reason: "no such release\nat all", Count: 6}}
			}
			for k := range a.Points {
				p := &a.Points[k]
				p.Metrics, p.Valid = map[string]journal.Metric{"Chain ns/op": {Value: 28.8e3 * float64(1+j) * (0.99 + 0.01*float64(k%5))}}, i == 0
				if i > 0 {
					p.Metrics, p.InvalidReason = nil, "no such release\nat all"
				}
			}
		}
	}
	return r
}

// hostileLab is a run in which every text tries to be more than text.
func hostileLab() *lab.Outcome {
	o, hostile := madeLab(), pagetest.Hostile()
	evil := hostile.Name
	o.Host, o.Tool = hostile.Host, hostile.Tool
	for i := range o.Experiments {
		e := &o.Experiments[i]
		e.Title, e.Document, e.Claim = evil, evil, evil
		for j := range e.Hypotheses {
			s := &e.Hypotheses[j]
			s.Says, s.Document, s.On, s.Reason, s.From = evil, evil, evil, evil, evil
		}
		for j := range e.Stages {
			s := &e.Stages[j]
			s.Title, s.Scaled, s.Stopped = evil, evil, evil
			if s.NotRun != "" {
				s.NotRun, e.NotRun = evil, evil
			} else {
				e.Measured[s.ID] = lab.Measured{Result: hostile}
			}
			for k := range s.Versions {
				s.Versions[k] = lab.Version{Asked: evil, Full: evil, Fault: evil}
			}
		}
	}
	return o
}

func interval(median, low, high float64, n int) stat.Interval {
	return stat.Interval{Median: &median, Low: &low, High: &high, N: n}
}

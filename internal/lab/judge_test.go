package lab

import (
	"cmp"
	"math"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
)

func TestJudge(t *testing.T) {
	got := func(value, low, high float64) Estimate { return Estimate{Value: &value, Low: &low, High: &high, N: 6} }
	half := 0.5
	for name, tc := range map[string]struct {
		got             Estimate
		atLeast, atMost float64
		needs           float64
		want            Answer
		reason          string // in it
	}{
		"within":                       {got(1.04, 1.02, 1.07), 0, 1.1, 0, Holds, ""},
		"on the bounds":                {got(1, 0.9, 1.1), 0.9, 1.1, 0, Holds, ""},
		"above":                        {got(1.3, 1.2, 1.4), 0, 1.1, 0, DoesNotHold, ""},
		"below":                        {got(0.5, 0.4, 0.6), 0.9, 1.1, 0, DoesNotHold, ""},
		"crosses the upper":            {got(1.08, 1.02, 1.2), 0, 1.1, 0, Undecided, "the interval contains the bound of 1.1"},
		"crosses the lower":            {got(0.9, 0.8, 1), 0.9, 0, 0, Undecided, "contains the bound of 0.9"},
		"open above":                   {got(50, 40, 60), 2, 0, 0, Holds, ""},
		"wide enough for both":         {got(1, 0.1, 9), 0.9, 1.1, 0, Undecided, "the bound of"},
		"too few CPUs":                 {got(1, 1, 1), 0, 2, 8, NotAsked, "needs 8 CPUs; this machine has 2"},
		"enough CPUs":                  {got(1, 1, 1), 0, 2, 2, Holds, ""},
		"too few CPUs, nothing at all": {Estimate{Why: "not run"}, 0, 2, 8, NotAsked, "needs 8 CPUs"},
		"nothing":                      {Estimate{Why: "GOMAXPROCS=2 was not run"}, 0, 2, 0, Undecided, "GOMAXPROCS=2 was not run"},
		"no interval":                  {Estimate{Value: &half, N: 3, Why: "3 blocks: an interval needs 6"}, 0, 2, 0, Undecided, "3 blocks: an interval needs 6"},
		"no number":                    {got(math.NaN(), 1, 1), 0, 2, 0, Undecided, "no finite ratio"},
		"no end":                       {got(1, 1, math.Inf(1)), 0.5, 0, 0, Undecided, "no finite ratio"},
		"no end of what was printed":   {Estimate{Value: &half, Low: &half, High: new(math.Inf(1)), Printed: true}, 2, 0, 0, Undecided, "no finite ratio"},
		"zero":                         {got(0, 0, 0), 0, 0.5, 0, Holds, ""},
	} {
		e := Experiment{Hypotheses: []Hypothesis{{AtLeast: tc.atLeast, AtMost: tc.atMost, Needs: tc.needs, Measure: measure{of: func(Results) Estimate { return tc.got }}}}}
		j := judge(e, nil, 2)[0]
		if one := judge(e, nil, 1)[0]; tc.needs == 2 && one.Reason != "needs 2 CPUs; this machine has 1" {
			t.Errorf("on one CPU: %q", one.Reason)
		}
		if j.Answer != tc.want || !strings.Contains(j.Reason, tc.reason) || (tc.reason == "") != (j.Reason == "") {
			t.Errorf("%s: %s, %q", name, j.Answer, j.Reason)
		}
	}
}

// A hypothesis that is measured answers for itself, whatever its document claims.
func TestConclude(t *testing.T) {
	six := stageOf(6, func(procs, block int) float64 { return float64(procs) * (1 + 0.01*float64(block)) }, 1, 2)
	e := Experiment{Hypotheses: []Hypothesis{{
		ID: "twice", Says: "two Ps do twice as much", Document: "2 ÷ 1", Value: 2, AtLeast: 1.9, AtMost: 2.1,
		Measure: ratio(quantity{Procs: "2"}, quantity{Procs: "1"}),
	}, {ID: "same", Says: "two Ps do the same", AtMost: 1.1, Measure: ratio(quantity{Procs: "2"}, quantity{Procs: "1"})}}}
	r := Ran{Measured: Results{"": six}}
	r.Conclude(e, 2)
	twice, same := r.Hypotheses[0], r.Hypotheses[1]
	if twice.Answer != Holds || twice.Value != 2 || math.Abs(*twice.Measured.Value-2) > 1e-9 || twice.Measured.N != 6 {
		t.Errorf("%+v", twice)
	}
	if same.Answer != DoesNotHold || same.Value != 0 || same.AtLeast != 0 {
		t.Errorf("%+v", same)
	}

	// What other programs take, or may have taken, comes off every time, and off no number
	// that the program prints.
	six = stageOf(7, func(procs, block int) float64 { return float64(procs) * (1 + 0.01*float64(block)) }, 1, 2).with(func(t *journal.Trial) { t.Metrics = map[string]journal.Metric{"threads": {Value: 4}} })
	six.Trials[0].Valid, six.Trials[0].InvalidCode = false, journal.InvalidCrowded
	r.Measured[""] = six
	e.Hypotheses = append(e.Hypotheses, Hypothesis{ID: "threads", AtMost: 4, Measure: count(quantity{Figure: "threads", Procs: "1"}, 1)})
	for _, stage := range []RanStage{{Run: 6, OtherCPUs: new(0.1), AtMost: new(0.3)}, {Run: 6, OtherCPUs: new(0.3)}, {Run: 6, AtMost: new(0.3)}, {Run: 6, AtMost: new(0.1)}} {
		want, other := Holds, DoesNotHold
		if stage.Disturbed(2) {
			want, other = Undecided, Undecided
		}
		r.Stages = []RanStage{stage}
		r.Conclude(e, 2)
		if threads := r.Hypotheses[2]; threads.Answer != Holds || threads.Measured.Low != nil || threads.Measured.N != 7 {
			t.Errorf("%+v: %+v", stage, threads)
		}
		others := cmp.Or(stage.OtherCPUs, stage.AtMost)
		if twice, same := r.Hypotheses[0], r.Hypotheses[1]; twice.Answer != want || same.Answer != other {
			t.Errorf("others took %g: %+v, %+v", *others, twice, same)
		} else if want == Undecided && stage.OtherCPUs != nil && twice.Reason != "other programs used 0.3 of the 2 CPUs at the same time: stop them and run it again" {
			t.Errorf("%q", twice.Reason)
		}
	}
	// The programs may have had fewer CPUs than the machine has.
	others := 3.5
	r.Stages = []RanStage{{Run: 6, OtherCPUs: &others, OfCPUs: 8}}
	if r.Conclude(e, 64); r.Hypotheses[0].Reason != "other programs used 3.5 of the 8 CPUs at the same time: stop them and run it again" {
		t.Errorf("%+v", r.Hypotheses[0])
	}
}

func TestFind(t *testing.T) {
	if e, err := Find("build"); err != nil || e.Kind != Command {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := Find("chian"); err == nil || !strings.Contains(err.Error(), `no practice experiment "chian": did you mean chain`) {
		t.Errorf("%v", err)
	}
}

func TestOtherCPUs(t *testing.T) {
	m := stageOf(3, func(int, int) float64 { return 1 }, 1)
	m.Result.TrialsPlanned, m.Result.TrialsRun = 3, 3
	m = m.with(func(t *journal.Trial) {
		t.MeasuredSeconds, t.HostUse = 2, &journal.HostUse{TargetCPUs: 4, OtherCPUSeconds: new(0.5)}
	})
	m.Trials[0].HostUse = nil
	var s RanStage
	if s.Count(m); s.OtherCPUs == nil || *s.OtherCPUs != 0.25 || s.OfCPUs != 4 || s.Planned != 3 {
		t.Errorf("0.5 s of 2 were another's: %+v", s)
	}
	m.Trials[1].HostUse.OtherCPUSeconds, m.Trials[2].HostUse.OtherCPUSeconds, m.Trials[1].MeasuredSeconds, m.Trials[2].MeasuredSeconds = new(1.7e308), new(1.7e308), 0.5, 0.5
	if s.Count(m); s.OtherCPUs == nil || *s.OtherCPUs != 4 { // JSON holds no infinity
		t.Errorf("more than a number holds: %v", s.OtherCPUs)
	}
	m.Trials = m.Trials[:1]
	if s.Count(m); s.OtherCPUs != nil {
		t.Errorf("not known: %g", *s.OtherCPUs)
	}
}

package trial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial/foreign"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// A p99 is on 5,000 requests and, under a quota, on 100 periods. What never was
// sent counts: it is in the latency too. A limit around procfit itself throttles the target as its
// own does, where it is less than the CPUs that the target may use.
func TestJudge(t *testing.T) {
	quota := 0.5
	for name, tc := range map[string]struct {
		requests int64
		span     time.Duration
		quota    *float64
		outer    float64 // of a limit around procfit, next to the 2 CPUs of the target; 0: there is none
		reason   journal.UnjudgedCode
		quantile float64
	}{
		"enough":                {5000, time.Second, nil, 0, "", 0},
		"one too few":           {4999, time.Minute, nil, 0, journal.UnjudgedFewRequests, 0.95},
		"few":                   {500, time.Minute, nil, 0, journal.UnjudgedFewRequests, 0.9},
		"hardly any":            {20, time.Minute, nil, 0, journal.UnjudgedFewRequests, 0},
		"a quota, and long":     {5000, 10 * time.Second, &quota, 0, "", 0},
		"a quota, and short":    {50000, 9950 * time.Millisecond, &quota, 0, journal.UnjudgedFewPeriods, 0.95},
		"few of both":           {1000, time.Second, &quota, 0, journal.UnjudgedFewRequests, 0.9},
		"short without a quota": {50000, 100 * time.Millisecond, nil, 0, "", 0},
		"a limit around":        {5000, 3 * time.Second, nil, 1.5, journal.UnjudgedFewPeriods, 0.95},
		"one of all its CPUs":   {5000, 3 * time.Second, nil, 2, "", 0},
		"one of more CPUs":      {5000, 3 * time.Second, nil, 8, "", 0},
	} {
		h := hdrhistogram.New(1, int64(time.Minute), 3)
		h.RecordValues(int64(time.Millisecond), tc.requests)
		l := &load.Result{Mode: load.ModeOpen, Rate: 1, AchievedPerSecond: 1, Duration: tc.span, Requests: 1, Latency: h, SendLag: h}
		usage := &journal.Usage{HostUse: &journal.HostUse{TargetCPUs: 2}, OuterLimits: []journal.OuterLimit{{Group: "/pod", CPUs: tc.outer}}}
		tr := journal.Trial{Setting: journal.Setting{QuotaCPUs: tc.quota}}
		if err := addOpen(&tr, l, usage, 300*time.Millisecond); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p := tr.Phases[0]
		if p.Judged == nil || *p.Judged != (tc.reason == "") || p.UnjudgedReason != tc.reason || p.Quantile != tc.quantile {
			t.Errorf("%s: %+v, want %q and the quantile %g", name, p.Judgement, tc.reason, tc.quantile)
		}
		if (p.QuantileSeconds != nil) != (tc.quantile > 0) || p.DroppedHeadSeconds != 0.3 || tr.LatencySeconds == nil {
			t.Errorf("%s: %+v with latency %v", name, p.Judgement, tr.LatencySeconds)
		}
	}
}

// Of a generator that prints them, only the quantiles that it prints can stand for the
// p99; without a rate, none does.
func TestJudgeExternal(t *testing.T) {
	rate, p90 := 100.0, 0.002
	figures := &foreign.Report{Figures: foreign.Figures{"throughput": rate, "p50": 0.001, "p90": p90, "p99": 0.003}}
	var tr journal.Trial
	must.OK(t, External(&tr, figures, 12*time.Second, &rate, nil))
	p := tr.Phases[0]
	if p.Judged == nil || *p.Judged || p.UnjudgedReason != journal.UnjudgedFewRequests || p.Quantile != 0.9 || *p.QuantileSeconds != p90 {
		t.Errorf("1,200 requests: %+v, want the p90", p.Judgement)
	}
	tr = journal.Trial{}
	must.OK(t, External(&tr, figures, time.Minute, nil, nil))
	if j := tr.Phases[0].Judgement; j != (journal.Judgement{}) {
		t.Errorf("a closed loop was judged: %+v", j)
	}
}

// The reason of an invalid trial has the words of the user, and not those of Go's libraries.
func TestReasonsInPlainWords(t *testing.T) {
	_, err := net.Dial("tcp", "127.0.0.1:1")
	got := Invalid(journal.InvalidLoad, "the load generator could not start: %v", fmt.Errorf("cannot connect: %w", err)).Error()
	if strings.Contains(got, "dial tcp") || !strings.Contains(got, "connection refused") {
		t.Error(got)
	}
}

// A target none of whose processes is a Go program ends the run, unless the user said that
// it may be any: a reading that failed, and one Go program among them, do not.
func TestNoGoProgramIsRefused(t *testing.T) {
	none := Reading{NoGo: true, Programs: []string{"python3", "sh"}, Err: errors.New("none")}
	for name, c := range map[string]struct {
		readings []Reading
		any      bool
		want     string
	}{
		"none":              {[]Reading{none, none}, false, "python3 and sh are not a Go program, so GOMAXPROCS has no effect on it"},
		"by no name":        {[]Reading{{NoGo: true}}, false, "the target is not a Go program"},
		"any program":       {[]Reading{none}, true, ""},
		"one is":            {[]Reading{none, {Procs: 2}}, false, ""},
		"it cannot be read": {[]Reading{{Err: errors.New("ended")}}, false, ""},
		"nothing was read":  {nil, false, ""},
		"docker":            {[]Reading{{Procs: 2, Package: "github.com/docker/cli/cmd/docker"}}, false, "the target starts the program in a container or on another machine"},
		"compose in it":     {[]Reading{{Procs: 2, Package: "github.com/docker/compose/v2/cmd", Child: "process 7 (docker-compose)"}}, false, "the target's child process 7 (docker-compose) starts the program in a container"},
		"docker itself":     {[]Reading{{Procs: 2, Package: "github.com/docker/cli/cmd/docker"}}, true, ""},
	} {
		task := &Task{}
		task.Spec.Target.AnyProgram = c.any
		err := task.refuse(c.readings)
		var wrong *plan.FieldError
		if (err == nil) != (c.want == "") || err != nil && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A run in which one trial read a Go program is not ended by a trial that missed it, and a trial
// is judged by the run that tells most: another may have shown no more than a launcher.
func TestGoProgramIsNotRefused(t *testing.T) {
	none, unread := Reading{NoGo: true, Err: errors.New("none")}, Reading{Err: errors.New("permission denied")}
	ended, value := Reading{Ended: true, Err: errors.New("ended")}, Reading{Procs: 2}
	for name, c := range map[string]struct {
		trials  [][]Reading // of the runs of each
		refused bool
	}{
		"no Go program":                      {[][]Reading{{none, none}}, true},
		"one run is missed":                  {[][]Reading{{none, value}}, false},
		"another run shows one":              {[][]Reading{{none, unread}}, false},
		"another run ended too early":        {[][]Reading{{none, ended}}, true},
		"the first run ended too early":      {[][]Reading{{ended, none}}, true},
		"an earlier trial read one":          {[][]Reading{{value}, {none, none}}, false},
		"an earlier trial could not be read": {[][]Reading{{unread}, {none, none}}, true},
	} {
		var before []journal.Trial
		var err error
		for _, runs := range c.trials {
			on := &scripted{runs: runs}
			spec := plan.Default()
			spec.Target.Command, spec.Load.Warmup, spec.Target.RunFor = []string{"job"}, 0, time.Duration(len(runs))*time.Second
			task := NewTask(journal.OriginLocal, spec, plan.Task{Setting: journal.Setting{Replicas: 1}, SawGo: plan.SawGo(before)}, nil, nil)
			var trial journal.Trial
			trial, err = Run(t.Context(), on, task)
			before = append(before, trial)
		}
		if wrong := (*plan.FieldError)(nil); errors.As(err, &wrong) != c.refused || !c.refused && err != nil {
			t.Errorf("%s: %v, want that it is refused: %v", name, err, c.refused)
		}
	}
}

// scripted is a stage whose runs read what a test wants, one after the other.
type scripted struct {
	stage
	runs []Reading
}

func (s *scripted) RunOnce(context.Context, bool) (Ran, error) {
	one := Ran{Wall: time.Second, Readings: []Reading{s.runs[0]}, Outputs: []load.Output{{}}}
	s.runs = s.runs[1:]
	return one, nil
}

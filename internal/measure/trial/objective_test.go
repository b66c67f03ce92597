package trial

import (
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
)

// A rate meets the objective when its latency does, it was kept up, and no more
// requests failed than may.
func TestProbe(t *testing.T) {
	objective := slo.Objective{Quantile: 0.99, Seconds: 0.02}
	for name, tc := range map[string]struct {
		latency            time.Duration
		achieved           float64
		errors, unanswered int64
		met                bool
	}{
		"fine":           {10 * time.Millisecond, 100, 0, 0, true},
		"late":           {30 * time.Millisecond, 100, 0, 0, false},
		"not kept up":    {10 * time.Millisecond, 98, 0, 0, false},
		"few errors":     {10 * time.Millisecond, 100, 1, 0, true},
		"errors":         {10 * time.Millisecond, 100, 2, 0, false},
		"never answered": {10 * time.Millisecond, 100, 0, 5, false},
		"nothing at all": {0, 0, 0, 100, false},
	} {
		h := hdrhistogram.New(1, int64(time.Minute), 3)
		if tc.latency > 0 {
			h.RecordValues(int64(tc.latency), 100)
		}
		l := &load.Result{Mode: load.ModeOpen, Rate: 100, AchievedPerSecond: tc.achieved, Duration: time.Second, Requests: 100, Errors: tc.errors, Unanswered: tc.unanswered, Hanging: tc.unanswered, Latency: h, SendLag: h}
		tr := journal.Trial{Load: &journal.LoadCost{}}
		task := Task{Trial: &tr, Spec: plan.Spec{Load: plan.Load{Duration: time.Second, MaxErrors: 0.01}}}
		p, err := task.addProbe(objective, l, nil)
		if err != nil || objective.Meets(p) != tc.met || p.RatePerSecond != 100 {
			t.Errorf("%s: %+v, %v; want that it meets it: %v", name, p, err, tc.met)
		}
		if len(tr.Phases) != 1 || tr.Phases[0].DroppedHeadSeconds != 0.3 || tr.LatencySeconds != nil || (tr.Load.SendLagP99Seconds != nil) != tc.met {
			t.Errorf("%s: %+v", name, tr)
		}
	}
}

// The capacity is the trial's throughput. Where no rate met the objective it is the
// lowest that was tried, which the setting does not carry.
func TestAttained(t *testing.T) {
	s := slo.Search{Objective: slo.Objective{Quantile: 0.99, Seconds: 0.02}, Ceiling: 1000, Probes: 7}
	var tr journal.Trial
	attain(&tr, s, []slo.Probe{{RatePerSecond: 700, Seconds: 1, Carried: true}, {RatePerSecond: 350, Seconds: 0.5, Carried: true}})
	if *tr.ThroughputPerSecond != 350 || tr.Attained.Met || tr.Attained.Probes != 2 {
		t.Errorf("never met: %v, %+v", *tr.ThroughputPerSecond, tr.Attained)
	}
	attain(&tr, s, []slo.Probe{{RatePerSecond: 700, Seconds: 0.02, Carried: true}, {RatePerSecond: 910, Seconds: 0.2, Carried: true}})
	if *tr.ThroughputPerSecond != 700 || !tr.Attained.Met {
		t.Errorf("met: %v, %+v", *tr.ThroughputPerSecond, tr.Attained)
	}
	// What failed at a rate that was too high makes no trial invalid.
	tr.Phases = []journal.Phase{{Requests: 100}, {Requests: 100}, {Requests: 50, Errors: 50, Unanswered: 50}}
	if err := JudgeAnswers(&tr, 0.01, 64); err != nil {
		t.Errorf("errors at one rate of a search: %v", err)
	}
	tr.Phases[0].Errors = 50
	if err := JudgeAnswers(&tr, 0.01, 64); err == nil {
		t.Error("errors of the closed loop passed")
	}
}

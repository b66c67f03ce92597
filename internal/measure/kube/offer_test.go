package kube

import (
	"context"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	corev1 "k8s.io/api/core/v1"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// startedRun is a run whose pods there is no cluster for.
type startedRun struct {
	*run
	ending  trial.Ending
	stopped error
}

func started(spec plan.Spec, setting journal.Setting) *startedRun {
	return &startedRun{run: &run{runner: &runner{Target: &Target{}, spec: spec}, Task: trial.NewTask(journal.OriginKube, spec, plan.Task{Setting: setting}, nil, nil)}}
}

func (*startedRun) Prepare(context.Context, context.CancelCauseFunc) error { return nil }
func (r *startedRun) Start(context.Context) ([]string, error) {
	return []string{r.Spec.Target.URL}, nil
}
func (*startedRun) Check(context.Context) error                  { return nil }
func (r *startedRun) Stop(context.Context) (trial.Ending, error) { return r.ending, r.stopped }

// unanswering is a generator whose loops end with requests that were never answered.
type unanswering struct{ unanswered int64 }

func (g unanswering) Load(_ context.Context, o load.Options, ended func(time.Duration)) (*load.Result, error) {
	ended(0)
	h := hdrhistogram.New(1, int64(time.Minute), 3)
	return &load.Result{Mode: load.ModeClosed, Duration: o.Duration, AchievedPerSecond: 1e6, Requests: 1e6, Unanswered: g.unanswered, Hanging: g.unanswered, Latency: h}, h.RecordValue(int64(time.Millisecond))
}

func (unanswering) Fetch(context.Context, string) (agent.Answer, error) {
	return agent.Answer{Status: 200, Body: procsMetric + " 2\n"}, nil
}

// A request that is never answered holds one stream, not all streams of its connection:
// --max-errors is a share of connections × streams.
func TestOfferUnanswered(t *testing.T) {
	for name, tc := range map[string]struct {
		streams    int
		unanswered int64
		want       journal.InvalidCode
	}{
		"6 of 640 streams":    {10, 6, ""},
		"7 of 640 streams":    {10, 7, journal.InvalidErrors},
		"6 of 64 connections": {1, 6, journal.InvalidErrors},
	} {
		spec := plan.Default()
		spec.Target.Pods, spec.Target.URL = &plan.Pods{}, "h2c://{pod}/"
		spec.Load.Connections, spec.Load.Streams, spec.Load.MaxErrors = 64, tc.streams, 0.01
		r := started(spec, journal.Setting{Procs: new(2), Replicas: 1})
		r.from = unanswering{tc.unanswered}
		r.fleet = []*replica{{name: "p", pod: &corev1.Pod{}, url: "h2c://10.0.0.1/", why: "nothing looks from beside it"}}
		tr, err := trial.Run(t.Context(), r, r.Task)
		if err != nil || tr.InvalidCode != tc.want || tr.Valid != (tc.want == "") {
			t.Errorf("%s never answered: %v, code %q (%s), want %q", name, err, tr.InvalidCode, tr.InvalidReason, tc.want)
		}
	}
}

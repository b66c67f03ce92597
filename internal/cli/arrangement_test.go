package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/journal"
)

func TestArrangementInWords(t *testing.T) {
	host := journal.Host{CPUs: 8, AffinityCPUs: 8, EffectiveCPUs: 8}
	for name, tc := range map[string]struct {
		spec func(*plan.Spec)
		want string
	}{
		"chosen": {func(s *plan.Spec) {
			s.Split = &plan.Split{Target: []int{0, 1, 2, 3, 4, 5, 6}, Load: []int{7}}
		}, "on 7 of 8 CPUs; the load generator has 1"},
		"to be chosen": {func(*plan.Spec) {}, "on the CPUs of 8 that the load generator leaves, once two trials have shown what it needs"},
		"shared":       {func(s *plan.Spec) { s.Load.Shared = true }, ""},
		"given":        {func(s *plan.Spec) { s.Target.CPUs, s.Load.CPUs = []int{0}, []int{1} }, ""},
	} {
		spec := plan.Default()
		spec.Target.Command, spec.Target.URL = []string{"server"}, "http://127.0.0.1:1/"
		tc.spec(&spec)
		s := session.New(spec, session.Options{Dir: t.TempDir(), Host: host, Started: time.Unix(1, 0)})
		if got := strings.Join(arrangement(s), "|"); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// stopping answers every task with a valid trial, and is interrupted after that many.
type stopping struct{ after int }

func (*stopping) Prepare(context.Context, journal.Plan, plan.Observer) error { return nil }
func (*stopping) Close() error                                               { return nil }

func (s *stopping) Run(context.Context, plan.Task, plan.Observer) (journal.Trial, error) {
	if s.after--; s.after < 0 {
		return journal.Trial{}, context.Canceled
	}
	return journal.Trial{Origin: journal.OriginLocal, Valid: true, ThroughputPerSecond: new(100.0), ThroughputUnit: "runs", ObservedProcs: []*int{new(2)}}, nil
}

// A race that continues with a smaller budget than it has used completes its block, and
// says so.
func TestSmallerBudgetInWords(t *testing.T) {
	const done = 5
	asked := plan.Default()
	asked.Target.Command, asked.Procs = []string{"program"}, plan.Procs{Values: []*int{nil, new(1), new(2)}}
	dir := t.TempDir()
	m := newMeasurement("sweep")
	run := func(most, stop int) (s *session.Session, text string) {
		asked.Budget = &plan.Budget{Goal: journal.GoalProven, MaxTrials: most}
		s = session.New(asked, session.Options{Dir: dir, Spec: spec.Spec{Command: "sweep"}, Host: journal.Host{CPUs: 2, EffectiveCPUs: 2}, Started: time.Unix(1, 0)})
		_, err := s.Run(t.Context(), &stopping{after: stop}, session.Events{Begin: func() { text = m.race(s)[0] }})
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		return s, text
	}
	first, _ := run(20, done)
	begun := 0
	for _, b := range first.Journal().Blocks {
		begun += len(b.Settings)
	}
	_, text := run(3, 0)
	if want := fmt.Sprintf("at most %d trials, %d of them done", begun, done); text != want {
		t.Errorf("%q, want %q, of %d trials begun", text, want, begun)
	}
}

func TestShortfallInWords(t *testing.T) {
	for want, s := range map[string]plan.Shortfall{
		"p99 will not be judged: 1,500 requests in 3 s; use --trial-time 20s":                {Code: journal.UnjudgedFewRequests, Have: 1500, In: 3 * time.Second, Duration: 20 * time.Second},
		"p99 will not be judged: 1 request in 50 ms; use --trial-time 1m40s":                 {Code: journal.UnjudgedFewRequests, Have: 1, In: 50 * time.Millisecond, Duration: 100 * time.Second},
		"p99 will not be judged: 15 periods of the CPU limit in 1.5 s; use --trial-time 20s": {Code: journal.UnjudgedFewPeriods, Have: 15, In: 1500 * time.Millisecond, Duration: 20 * time.Second},
		"p99 will not be judged: 1 period of the CPU limit in 100 ms; use --trial-time 20s":  {Code: journal.UnjudgedFewPeriods, Have: 1, In: 100 * time.Millisecond, Duration: 20 * time.Second},
		"p99 will not be judged: 1,070 requests in 10.7 s; use --trial-time 1m40s":           {Code: journal.UnjudgedFewRequests, Have: 1070, In: 10700 * time.Millisecond, Duration: 100 * time.Second},
	} {
		if got := shortfall(s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

package trial

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// stage is a Place whose verbs return what a test wants.
type stage struct {
	server
	calls                                               []string
	prepared, started, looked, offered, became, stopped error
	ending                                              Ending
	ran                                                 Ran
	lost                                                error // that the place ends the trial with, as load is offered
	end                                                 context.CancelCauseFunc
}

func (s *stage) call(verb string, err error) error {
	s.calls = append(s.calls, verb)
	return err
}

func (s *stage) Prepare(_ context.Context, end context.CancelCauseFunc) error {
	s.end = end
	return s.call("prepare", s.prepared)
}

func (s *stage) Start(context.Context) ([]string, error) {
	return []string{"http://x/"}, s.call("start", s.started)
}

func (s *stage) Look(context.Context) ([]Reading, error) {
	return readings(2), s.call("look", s.looked)
}

func (s *stage) Offer(ctx context.Context, o load.Options, count bool) (*load.Result, *journal.Usage, error) {
	verb := "offer"
	if !count {
		verb = "warm up"
	}
	if err := s.call(verb, s.offered); err != nil {
		return nil, nil, err
	}
	if s.lost != nil && count {
		s.end(s.lost)
		return nil, nil, ctx.Err()
	}
	return s.server.Offer(ctx, o, count)
}

func (s *stage) RunOnce(_ context.Context, measured bool) (Ran, error) {
	return s.ran, s.call(fmt.Sprint("run ", measured), nil)
}
func (s *stage) Check(context.Context) error          { return s.call("check", s.became) }
func (s *stage) Stop(context.Context) (Ending, error) { return s.ending, s.call("stop", s.stopped) }

// Whatever happens, the place is stopped, and the reason that explains most is the
// trial's.
func TestLife(t *testing.T) {
	broken, crashed := errors.New("broken"), Invalid(journal.InvalidCrashed, "it crashed")
	left := &supervisor.LostError{Left: []int{9}}
	all := []string{"prepare", "start", "warm up", "look", "offer", "look", "check", "stop"}
	for name, tc := range map[string]struct {
		set   func(*stage)
		calls []string
		code  journal.InvalidCode
		err   error
	}{
		"well":                       {func(s *stage) {}, all, "", nil},
		"not prepared":               {func(s *stage) { s.prepared = broken }, []string{"prepare", "stop"}, "", broken},
		"not started":                {func(s *stage) { s.started = crashed }, []string{"prepare", "start", "stop"}, journal.InvalidCrashed, nil},
		"not loaded, as it crashed":  {func(s *stage) { s.offered, s.became = broken, crashed }, []string{"prepare", "start", "warm up", "check", "stop"}, journal.InvalidCrashed, nil},
		"not looked at":              {func(s *stage) { s.looked = broken }, []string{"prepare", "start", "warm up", "look", "check", "stop"}, "", broken},
		"crashed, and does not stop": {func(s *stage) { s.became, s.stopped = crashed, broken }, all, "", broken},
		"crashed, and is lost":       {func(s *stage) { s.became, s.stopped = crashed, errors.Join(&supervisor.LostError{}) }, all, journal.InvalidCrashed, nil},
		"crashed, and one replica is lost": {func(s *stage) { s.became, s.stopped = crashed, errors.Join(&supervisor.LostError{}, broken) },
			all, "", broken},
		"crashed, and is lost and left": {func(s *stage) { s.became, s.stopped = crashed, errors.Join(left) }, all, "", left},
		"does not stop":                 {func(s *stage) { s.stopped = broken }, all, "", broken},
		"is lost and left":              {func(s *stage) { s.stopped = left }, all, "", left},
		"its node is lost at the end": {func(s *stage) { s.became, s.stopped = crashed, Invalid(journal.InvalidNodeLost, "gone") },
			all, journal.InvalidNodeLost, nil},
		"its node is lost, and it does not stop": {func(s *stage) { s.lost, s.stopped = Invalid(journal.InvalidNodeLost, "gone"), broken },
			[]string{"prepare", "start", "warm up", "look", "offer", "check", "stop"}, "", broken},
		"its node is lost": {func(s *stage) { s.lost = Invalid(journal.InvalidNodeLost, "gone") },
			[]string{"prepare", "start", "warm up", "look", "offer", "check", "stop"}, journal.InvalidNodeLost, nil},
	} {
		spec, on := plan.Default(), &stage{}
		spec.Target.URL = "http://x/"
		tc.set(on)
		tr, err := Run(t.Context(), on, NewTask(journal.OriginLocal, spec, plan.Task{Setting: journal.Setting{Procs: new(2), Replicas: 1}}, nil, nil))
		if !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) || errors.Is(err, context.Canceled) || tr.InvalidCode != tc.code || tr.Valid != (tc.code == "" && tc.err == nil) || !slices.Equal(on.calls, tc.calls) {
			t.Errorf("%s: %v, %s %q after %v; want %v, %s after %v", name, err, tr.InvalidCode, tr.InvalidReason, on.calls, tc.err, tc.code, tc.calls)
		}
		if tr.NotStarted != (tc.code == journal.InvalidNodeLost) {
			t.Errorf("%s: not started %v", name, tr.NotStarted)
		}
	}
	spec, in := plan.Default(), &stage{started: crashed, ending: Ending{Outputs: []load.Output{{Head: []byte("no configuration\n")}}}}
	spec.Target.URL = "http://x/"
	tr, err := Run(t.Context(), in, NewTask(journal.OriginKube, spec, plan.Task{}, nil, nil))
	if want := "it crashed; its last output:\nno configuration"; err != nil || tr.InvalidReason != want {
		t.Errorf("in a cluster: %v, %q, want %q", err, tr.InvalidReason, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	on := &stage{stopped: broken}
	if _, err := Run(ctx, on, NewTask(journal.OriginLocal, plan.Default(), plan.Task{}, nil, nil)); !errors.Is(err, context.Canceled) || !errors.Is(err, broken) || !slices.Contains(on.calls, "stop") {
		t.Errorf("of a context that has ended: %v after %v", err, on.calls)
	}
}

// What a server printed is looked through for --metric, wherever it ran.
func TestServersMetrics(t *testing.T) {
	m := must.Get(load.ParseMetric(`cache=([\d.]+) hits`))(t)
	out := func(s string) []load.Output { return []load.Output{{Head: []byte(s)}} }
	for name, tc := range map[string]struct {
		ending Ending
		code   journal.InvalidCode
	}{
		"printed":     {Ending{Outputs: out("gomaxprocs 2\n120 hits\n"), Killed: true}, ""},
		"not printed": {Ending{Outputs: out("nothing\n")}, journal.InvalidMetric},
		"not read":    {Ending{Unread: errors.New("cannot read the output of pod p: timeout")}, journal.InvalidLost},
	} {
		spec := plan.Default()
		spec.Target.URL, spec.Load.Metrics = "http://x/", []load.Metric{m}
		tr, err := Run(t.Context(), &stage{ending: tc.ending}, NewTask(journal.OriginKube, spec, plan.Task{Setting: journal.Setting{Procs: new(2), Replicas: 1}}, nil, nil))
		if err != nil || tr.InvalidCode != tc.code {
			t.Errorf("%s: %v, %s %q", name, err, tr.InvalidCode, tr.InvalidReason)
		}
		if tc.code != "" && tr.ProcsLogged != nil {
			t.Errorf("%s: a log that may lack its beginning is said to name GOMAXPROCS: %v", name, *tr.ProcsLogged)
		}
		if got := tr.Metrics["cache"].Value; tc.code == "" && (got != 120 || !*tr.ProcsLogged || len(tr.Warnings) != 1 || tr.Warnings[0].Code != journal.WarnKilled) {
			t.Errorf("%s: %g, %+v", name, got, tr)
		}
	}
}

// A batch program warms up, then runs until its time is used.
func TestBatchLife(t *testing.T) {
	spec := plan.Default()
	spec.Target.Command, spec.Load.Warmup, spec.Target.RunFor = []string{"job"}, 2*time.Second, 3*time.Second
	host := &journal.HostUse{StealSeconds: 0.5}
	on := &stage{ran: Ran{Wall: 1500 * time.Millisecond, Usage: journal.Usage{MeasuredSeconds: 1.5, HostUse: host}, Readings: readings(2), Outputs: []load.Output{{Head: []byte("done\n")}}}}
	tr, err := Run(t.Context(), on, NewTask(journal.OriginLocal, spec, plan.Task{Setting: journal.Setting{Procs: new(2), Replicas: 1}}, nil, nil))
	if want := []string{"prepare", "start", "run false", "run false", "run true", "run true", "check", "stop"}; err != nil || !tr.Valid || !slices.Equal(on.calls, want) {
		t.Errorf("%v, %s after %v, want %v", err, tr.InvalidReason, on.calls, want)
	}
	if tr.MeasuredSeconds != 3 || tr.HostUse != host || *tr.ThroughputPerSecond != 2.0/3 || *tr.ProcsLogged {
		t.Errorf("%+v", tr)
	}
}

// chatty is a stage whose runs print 1 MiB each.
type chatty struct {
	stage
	runs int
	heap uint64 // in use before the last run
}

const chattyRuns = 64

func (c *chatty) RunOnce(ctx context.Context, measured bool) (Ran, error) {
	if c.runs++; c.runs == chattyRuns {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		c.heap = m.HeapAlloc
	}
	c.ran.Outputs = []load.Output{{Head: make([]byte, 1<<20)}}
	return c.stage.RunOnce(ctx, measured)
}

// What the runs of a trial print is not kept in memory: there may be thousands.
func TestBatchMemory(t *testing.T) {
	spec, on := plan.Default(), &chatty{stage: stage{ran: Ran{Wall: 10 * time.Millisecond, Readings: readings(2)}}}
	spec.Target.Command, spec.Load.Warmup, spec.Target.RunFor = []string{"job"}, 0, chattyRuns*10*time.Millisecond
	tr, err := Run(t.Context(), on, NewTask(journal.OriginLocal, spec, plan.Task{Setting: journal.Setting{Procs: new(2), Replicas: 1}}, nil, nil))
	if err != nil || !tr.Valid || on.runs != chattyRuns {
		t.Fatalf("%v, %s after %d runs", err, tr.InvalidReason, on.runs)
	}
	if on.heap > chattyRuns/2<<20 {
		t.Errorf("%d bytes in use before the last of %d runs that printed 1 MiB each", on.heap, chattyRuns)
	}
}

// away is an error which says that it lost something.
type away struct{ error }

func (away) Lost() bool { return true }

// What was lost explains less than a failure that is known.
func TestLost(t *testing.T) {
	lost, crash := &supervisor.LostError{PID: 7, Fate: "signal: killed"}, Invalid(journal.InvalidCrashed, "it crashed")
	for name, tc := range map[string]struct {
		err  error
		code journal.InvalidCode
		in   string
	}{
		"a supervisor": {fmt.Errorf("x: %w", lost), journal.InvalidLost, "process 7, was lost (signal: killed)"},
		"an agent":     {fmt.Errorf("x: %w", away{errors.New("no answer")}), journal.InvalidLost, "no answer"},
		"with a cause": {errors.Join(lost, crash), journal.InvalidCrashed, "it crashed"},
	} {
		if code, reason := failure(t, Lost(tc.err)); code != tc.code || !strings.Contains(reason, tc.in) {
			t.Errorf("%s: %s %q", name, code, reason)
		}
	}
	for _, err := range []error{errors.New("broken"), &supervisor.LostError{Left: []int{9}}, &UnstoppedError{errors.Join(lost, errors.New("broken"))}} {
		if got := Lost(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}

// Counters that are missing in each loop are one warning.
func TestUncounted(t *testing.T) {
	task := NewTask(journal.OriginLocal, plan.Default(), plan.Task{}, nil, nil)
	for _, why := range []string{"no perf", "no perf", "no proc"} {
		task.Uncounted(errors.New(why))
	}
	if w := task.Trial.Warnings; len(w) != 2 || w[0].Detail != "no perf" || w[1].Detail != "no proc" {
		t.Errorf("%+v", w)
	}
}
